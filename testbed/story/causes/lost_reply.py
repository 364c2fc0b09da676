"""Did it happen? A request took effect and its caller did not learn of that; or the reverse.

1. The caller went on without an answer, which says neither that it failed nor that it did not: it
   did the same again, or what builds on a failure.
2. The reverse: nothing happened, and the caller went on as if it had.
3. The caller did nothing more, and the effect stayed.
4. The caller did nothing more, and there was no effect.
5. The caller crashed, and the effect came when its next life had begun.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.objects.event import Event
from testbed.story.believing import slow_write
from testbed.story.cause import Cause, CauseShape, named, sentence
from testbed.story.knowledge import Act, Version
from testbed.story.refusing import asked_again
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
        end = slice_.end
        if slice_.knowledge.has_heard(sent.actor, versions[0], end):
            continue
        if _is_named(slice_, sent, versions):
            text = sentence(
                f"{sent.actor}'s {sent.word} of {versions[0].subject} {sent.unanswered}",
                f"(step {sent.let_go}); it {_took(versions[0], sent.let_go)}",
                (asked_again(slice_, sent), "; its caller never learned of that", ""),
            )
            did = f"{sent.word} {versions[0].key}"
            yield Cause(CauseShape.DID_IT_HAPPEN, text, sent.actor, did, versions[0], sent.step)


def of_a_dead_life(slice_: Slice) -> Iterator[Cause]:
    """(5) What a life had sent before it ended, and took effect when another one had begun."""
    end = slice_.end
    for sent in reversed(slice_.requests.all):
        if sent.why != CRASHED or not _is_open(sent):
            continue
        late = [v for v in _effect(slice_, sent) if sent.let_go < v.step <= end]
        births = slice_.knowledge.births.get(sent.actor, [])
        born = min((birth for birth in births if birth > sent.let_go), default=0)
        if not (late and 0 < born < late[0].step) or late[0].step not in slice_.needed:
            continue
        before = [
            other
            for other in slice_.requests.all
            if other.actor == sent.actor and other.key == sent.key and other.is_write
            if born < other.step < late[0].step
        ]
        after = ", when its next life had begun"
        if before:
            how = f" was refused, {before[-1].refused}" if before[-1].refused else ""
            after = f", after its next life's {before[-1].word} of it{how} (step {before[-1].step})"
        text = sentence(
            f"{sent.actor}'s {sent.word} of {late[0].key}, sent before it crashed",
            f"(step {sent.let_go}), took effect only at rv {late[0].revision}",
            f"(step {late[0].step})",
            (after, ""),
        )
        did = f"{sent.word} {late[0].key}"
        yield Cause(CauseShape.DID_IT_HAPPEN, text, sent.actor, did, late[0], late[0].step)


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
    what, took = f"its {sent.word} of {version.subject}", _took(version, act.step)
    if sent.why == CRASHED:
        text = sentence(
            f"{acted(act)}, not knowing of {what} before it crashed (step {sent.let_go});",
            f"that {took}",
        )
    elif version.step < act.step:
        text = sentence(
            f"{acted(act)}, not knowing that {what} {took}:",
            f"it {sent.unanswered} (step {sent.let_go})",
            (slow_write(slice_, sent), ""),
        )
    else:
        text = sentence(
            f"{acted(act)} after {what} {sent.unanswered} (step {sent.let_go});",
            f"that {took}",
            (slow_write(slice_, sent) or ", too late for its caller", ""),
        )
    yield Cause.of(CauseShape.DID_IT_HAPPEN, act, text, version)


def _took(version: Version, by: int) -> str:
    took = "had taken" if version.step < by else "took"
    return f"{took} effect at rv {version.revision} (step {version.step})"


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
        f"{acted(act)} although its {sent.word} of {sent.key} {sent.unanswered}",
        f"(step {sent.let_go}) and had taken no effect",
    )
    yield Cause(CauseShape.DID_IT_HAPPEN, text, act.actor, named(act), None, act.step)
