"""Did it happen? A request took effect though its caller was told that it failed; or the reverse.

1. The caller went on without an answer, and did what it would not have done had it known: the same
   again, or what builds on the failure.
2. The reverse: nothing happened, and the caller went on as if it had.
3. The caller did nothing more, and the effect stayed.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.objects.event import Event
from testbed.story.cause import Cause, CauseShape, named, sentence
from testbed.story.knowledge import Act, Version
from testbed.story.requests import CRASHED, Sent
from testbed.story.slice import Slice
from testbed.story.wording import acted


def found(slice_: Slice) -> Iterator[Cause]:
    """The acts that the Violation is about, each after a request whose caller was let go."""
    sent = [each for each in reversed(slice_.requests.all) if _is_open(each)]
    for act in slice_.breaking:
        for each in sent:
            if _came_before(each, act):
                yield from _after(slice_, act, each)


def weaker(slice_: Slice) -> Iterator[Cause]:
    """(3) Effects of which their caller never heard."""
    for sent in reversed(slice_.requests.all):
        versions = _effect(slice_, sent)
        if not (_is_open(sent) and versions) or sent.why == CRASHED:
            continue
        end = slice_.violation.step if slice_.violation is not None else len(slice_.steps)
        if slice_.knowledge.has_heard(sent.actor, versions[0], end):
            continue
        if _is_named(slice_, sent, versions):
            text = sentence(
                f"{sent.actor} was told that its {sent.word} of {versions[0].key} had failed "
                f"(step {sent.let_go});",
                f"it had taken effect at rv {versions[0].revision} (step {sent.step})",
                (_lost(sent), ""),
            )
            did = f"{sent.word} {versions[0].key}"
            yield Cause(CauseShape.DID_IT_HAPPEN, text, sent.actor, did, versions[0], sent.step)


def _is_open(sent: Sent) -> bool:
    return sent.is_write and bool(sent.let_go) and not sent.key.startswith(Event.plural)


def _came_before(sent: Sent, act: Act) -> bool:
    """Whether the caller was let go before it decided that act, and the act is another one."""
    is_other = sent.step != act.step and all(part.number != act.step for part in sent.parts)
    return sent.actor == act.actor and is_other and 0 < sent.let_go <= act.decided


def _effect(slice_: Slice, sent: Sent) -> list[Version]:
    steps = {part.number for part in sent.parts}
    keys = {change.key for change in sent.changes}
    versions = slice_.knowledge.versions
    return [v for key in sorted(keys) for v in versions[key] if v.step in steps]


def _is_named(slice_: Slice, sent: Sent, versions: list[Version]) -> bool:
    keys = {sent.key, *(version.key for version in versions)}
    return any(map(slice_.is_named, keys)) or any(map(slice_.is_spoken_of, versions))


def _after(slice_: Slice, act: Act, sent: Sent) -> Iterator[Cause]:
    versions = _effect(slice_, sent)
    kinds = {key.partition("/")[0] for key in act.keys}
    is_like = sent.key.partition("/")[0] in kinds
    if not (_is_named(slice_, sent, versions) or (is_like and versions)):
        return
    if not versions:
        yield from _for_nothing(slice_, act, sent)
        return
    version = versions[0]
    if slice_.knowledge.has_heard(act.actor, version, act.decided):
        return
    if sent.why == CRASHED and (act.word != sent.word or not is_like):
        return  # that is a thing half done
    failed = "timed out" if sent.why == "timeout" else "failed"
    told = f"had {failed} (step {sent.let_go})"
    if sent.why == CRASHED:
        head = f"{acted(act)}, not knowing of its {sent.word} of {version.key}"
        head += f" before it crashed (step {sent.let_go});"
    else:
        head = f"{acted(act)} after being told that its {sent.word} of {version.key} {told};"
    took = "had taken" if version.step < act.step else "took"
    text = sentence(
        head,
        f"that {took} effect at rv {version.revision} (step {version.step})",
        (_lost(sent), ""),
    )
    yield Cause.of(CauseShape.DID_IT_HAPPEN, act, text, version)


def _for_nothing(slice_: Slice, act: Act, sent: Sent) -> Iterator[Cause]:
    """(2) A record that follows a request without effect, which was not made good."""
    again = [
        v
        for v in slice_.knowledge.versions.get(sent.key, [])
        if v.actor == sent.actor and sent.let_go < v.step <= act.step
    ]
    if act.record is None or act.path != sent.path or again or sent.why == CRASHED:
        return
    text = sentence(
        f"{acted(act)} although its {sent.word} of {sent.key} had failed (step {sent.let_go})",
        "and had taken no effect",
    )
    yield Cause(CauseShape.DID_IT_HAPPEN, text, act.actor, named(act), None, act.step)


def _lost(sent: Sent) -> str:
    if sent.why == "timeout":
        return ", too late for its caller"
    return ", and only the reply was lost" if sent.why != CRASHED else ""
