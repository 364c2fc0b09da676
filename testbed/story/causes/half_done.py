"""Half done: of writes that belong together, some were made and the others were not, or not yet.

1. A crash: an actor had written, and its life ended before it wrote anything more.
2. A failure: an actor had written, and its next write failed, and was never made good; or its
   Endpoint had made a write, and crashed before it had answered.
3. In between: another looked, or acted, when an actor had written and was not done.
4. Mixed: two wrote the same fields, and what is there is in part of the one and of the other.

What a program would have written next no trace shows. So the sentence says what it had written,
what ended it, and what came of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.objects.event import Event
from testbed.objects.meta import changed_fields, field_of
from testbed.story.believing import still_there
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.knowledge import Act, Version
from testbed.story.refusing import why_refused
from testbed.story.requests import CRASHED, Sent
from testbed.story.slice import Slice
from testbed.story.wording import EVICT, acted, did, wrote
from testbed.turns.option import HOLD, SERVE


def found(slice_: Slice) -> Iterator[Cause]:
    """What was half done when the claim broke; the last first."""
    yield from _between(slice_)
    yield from _failed(slice_)
    yield from _cut_off(slice_)
    yield from _crashed(slice_)
    yield from _never_back(slice_)


def _writes(slice_: Slice, actor: str, since: int, until: int) -> list[Version]:
    """What that actor wrote between these Steps, of what the Violation names or is about."""
    found = [
        version
        for key, versions in slice_.knowledge.versions.items()
        if not key.startswith(Event.plural)
        for version in versions
        if version.actor == actor and since < version.step <= until
    ]
    return sorted(found, key=lambda version: version.step)


def _matters(slice_: Slice, version: Version) -> bool:
    is_about = version.step in slice_.about
    return version.key in slice_.named_keys or slice_.is_spoken_of(version) or is_about


def _crashed(slice_: Slice) -> Iterator[Cause]:
    """(1) The last crash after a write that matters."""
    for actor, crash in reversed(slice_.requests.ends):
        if crash > slice_.end:
            continue
        born = slice_.knowledge.birth(actor, crash)
        before = [v for v in _writes(slice_, actor, born, crash) if _matters(slice_, v)]
        if not before:
            continue
        last = before[-1]
        after = _writes(slice_, actor, crash, slice_.end)
        lives = [s for s in slice_.knowledge.births.get(actor, []) if s > crash]
        if after:
            rest = f"; its next life, knowing nothing of that, {did(after[0])} "
            rest += f"(step {after[0].step})"
        else:
            rest = "; its next life wrote nothing" if lives else "; it never came back"
        undone = _undone(slice_, actor, crash) or [last.key]
        text = sentence(
            f"{wrote(last)} and crashed (step {crash})",
            _before_more(slice_, actor, crash),
            still_there(slice_, undone),
            (rest, ""),
        )
        did_ = f"{last.word} {last.key}"
        yield Cause(CauseShape.HALF_DONE, text, actor, did_, last, crash)


def _never_back(slice_: Slice) -> Iterator[Cause]:
    """(1) A crash for good, when something that is to go stays for its finalizer."""
    still = still_there(slice_, [])
    gone = [
        (actor, crash)
        for actor, crash in slice_.requests.ends
        if crash <= slice_.end and all(b < crash for b in slice_.knowledge.births.get(actor, []))
    ]
    # Of several that are gone, no trace shows which it was that had to let it go.
    if still and len(gone) == 1:
        actor, crash = gone[0]
        text = sentence(f"{actor} crashed (step {crash}) and never came back", still)
        yield Cause(CauseShape.HALF_DONE, text, actor, f"crash {actor}", None, crash)


def _failed(slice_: Slice) -> Iterator[Cause]:
    """(2) A write that failed after another one of the same actor, and was not made good."""
    for sent in reversed(slice_.requests.all):
        if not _is_in_vain(slice_, sent) or sent.step > slice_.end:
            continue
        born = slice_.knowledge.birth(sent.actor, sent.asked)
        before = _writes(slice_, sent.actor, born, sent.step)
        if not any(_matters(slice_, version) for version in before):
            continue
        last = before[-1]
        how = f"was refused, {sent.refused}" if sent.refused else sent.unanswered
        why = why_refused(slice_, sent)
        text = sentence(
            f"{wrote(last)}, and then its {sent.word} of {sent.key} {how} (step {sent.step})",
            f", after {wrote(why)}" if why is not None else "",
            still_there(slice_, [sent.key]),
            ("; it never made up for that" if why is None else "", ""),
        )
        did_ = f"{last.word} {last.key}" if why is None else f"{sent.word} {sent.key}"
        yield Cause(CauseShape.HALF_DONE, text, sent.actor, did_, why or last, sent.step)


def _cut_off(slice_: Slice) -> Iterator[Cause]:
    """(2) The last write of a request whose Endpoint crashed before it had answered."""
    for sent in reversed(slice_.requests.all):
        if not (sent.server and sent.changes) or sent.let_go > slice_.end:
            continue
        change = sent.changes[-1]
        last = slice_.knowledge.version(change.key, change.revision)
        if last is not None and _matters(slice_, last):
            text = sentence(
                f"{wrote(last)}, and {sent.server} crashed (step {sent.let_go})",
                f"before it had answered that {sent.word}",
            )
            did_ = f"{last.word} {last.key}"
            yield Cause(CauseShape.HALF_DONE, text, sent.actor, did_, last, sent.let_go)


def _undone(slice_: Slice, actor: str, crash: int) -> list[str]:
    """What its writes that were on their way at the crash, and never took effect, were to change:
    the last first."""
    lost = [s for s in slice_.requests.all if s.actor == actor and s.let_go == crash]
    return [s.key for s in reversed(lost) if s.is_write and not s.changes]


def _before_more(slice_: Slice, actor: str, crash: int) -> tuple[str, ...]:
    """What the crash came before, as far as the trace shows it; the longest wording first."""
    plain = "before it wrote anything more"
    for sent in reversed(slice_.requests.all):
        if sent.actor == actor and sent.let_go == crash and sent.is_write and not sent.changes:
            return (f"before its {sent.word} of {sent.key} took effect", plain)
    return (plain,)


def _is_in_vain(slice_: Slice, sent: Sent) -> bool:
    """Whether it is a write without effect, and its actor wrote nothing after it."""
    if not sent.is_write or sent.changes or sent.key.startswith(Event.plural):
        return False
    if not (sent.refused or sent.let_go) or sent.why == CRASHED:
        return False
    if sent.refused == "NotFound" and sent.word in ("delete", EVICT):
        return False  # what it was to remove is gone
    return not _writes(slice_, sent.actor, sent.step, slice_.end)


def _between(slice_: Slice) -> Iterator[Cause]:
    """(3) An act on what was true, of an actor that was not done."""
    for act in slice_.breaking:
        for key in sorted(slice_.shared - set(act.keys)):
            known = slice_.knowledge.known(act.path, key, act.decided)
            if known is None or known.entry is None:
                continue
            made = slice_.knowledge.version(key, known.entry.revision)
            if made is None or made.actor == act.actor or not _matters(slice_, made):
                continue
            if rest := _rest(slice_, made, act):
                text = sentence(
                    f"{acted(act)} when {made.actor} was half done: it {_it(made)}", (rest, "")
                )
                yield Cause.of(CauseShape.HALF_DONE, act, text, made)


def _it(made: Version) -> str:
    return wrote(made).removeprefix(f"{made.actor} ")


def _rest(slice_: Slice, made: Version, act: Act) -> str:
    """What shows that the writer was not done: a later write of it, one that is held back, or no
    answer yet. Empty if nothing shows it."""
    sent = slice_.requests.of(made.step)
    if sent is None:
        return ""
    later = [
        v
        for v in _writes(slice_, made.actor, act.step, len(slice_.steps))
        if v.key in slice_.named_keys and v.key != made.key
    ]
    if later:
        return f"and {did(later[0])} only at rv {later[0].revision} (step {later[0].step})"
    for step in slice_.steps[made.step : act.step]:
        is_theirs = step.kind == HOLD and step.option.actor == made.actor
        if is_theirs and step.option.label == SERVE and step.option.key != made.key:
            return f"and its write of {step.option.key} was still on its way"
    if not sent.answered or sent.answered > act.step:
        unwritten = [
            key
            for key in sorted(slice_.named_keys - {made.key})
            if slice_.knowledge.has_met(made.actor, key, act.step)
            and not any(v.actor == made.actor for v in slice_.knowledge.versions.get(key, []))
        ]
        more = f", and {unwritten[0]}, which it had read, not yet" if unwritten else ""
        return more or "and had no answer yet"
    return ""


def mixed(slice_: Slice) -> Iterator[Cause]:
    """(4) A write between two of another actor, where what the Violation says is there is of both.
    Had either gone first with all it wrote, it would all be of one."""
    written = _written(slice_)
    for (field, key), versions in sorted(written.items(), key=lambda each: each[0]):
        own = versions[-1]
        for (other, of), others in sorted(written.items(), key=lambda each: each[0]):
            last = others[-1]
            if last.actor == own.actor or last.step < own.step:
                continue
            first = _last_of(versions, last.actor, own.step)
            before = _last_of(others, last.actor, last.step)
            is_rest = first is not None and (before is None or before.step < first.step)
            if first is None or not is_rest or _last_of(others, own.actor, last.step) is None:
                continue
            rest = other if of == key else f"{other} of {of}"
            text = sentence(
                f"{own.actor} set {field} of {key} at rv {own.revision} (step {own.step})",
                f"when {last.actor} was half done: it had set that at rv {first.revision}",
                f"(step {first.step}), and set {rest} only at rv {last.revision}",
                f"(step {last.step})",
            )
            did_ = f"{own.word} {own.key}"
            yield Cause(CauseShape.HALF_DONE, text, own.actor, did_, first, own.step, (last.step,))


def _written(slice_: Slice) -> dict[tuple[str, str], list[Version]]:
    """By field and object: the updates that set it, if the Violation says what it was set to."""
    found: dict[tuple[str, str], list[Version]] = {}
    values: dict[tuple[str, str], str] = {}
    for key, versions in slice_.knowledge.versions.items():
        for version in versions:
            old, new = version.change.old, version.change.new
            if version.step > slice_.end or old is None or new is None:
                continue
            for field in changed_fields(old.value, new.value):
                found.setdefault((field, key), []).append(version)
                values[field, key] = str(field_of(new.value, field))
    return {place: some for place, some in found.items() if values[place] in slice_.words}


def _last_of(versions: list[Version], actor: str, until: int) -> Version | None:
    """The last of these that this actor wrote before that Step."""
    own = (each for each in reversed(versions) if each.actor == actor and each.step < until)
    return next(own, None)
