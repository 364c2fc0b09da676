"""Disagree: two undo each other's work again and again, each by a rule that is right by itself.

1. A to and fro over one object: two actors write it in turn.
2. One makes objects of a kind, and another removes or ends them, whatever they are called.
3. Each answers what the other writes, to objects of their own; or one undoes what it did itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from testbed.objects.event import Event
from testbed.objects.lease import Lease
from testbed.objects.meta import changed_fields, field_of
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.knowledge import Version
from testbed.story.promises import nominations
from testbed.story.slice import Slice
from testbed.story.wording import (
    DELETED,
    NODE,
    TURNS_MIN,
    became,
    did,
    did_where,
    ended,
    ended_for,
    to_and_fro,
)
from testbed.turns.found import LAP
from testbed.words import counted

BIND = "bind"


def found(slice_: Slice) -> Iterator[Cause]:
    """The to and fro that the Violation is about."""
    if slice_.violation is None:
        return
    is_lap = _is_lap(slice_)
    keys = sorted(slice_.named_keys & slice_.knowledge.versions.keys() or slice_.shared)
    for key in keys:
        turns = to_and_fro(slice_.knowledge.versions[key])
        # A lap that is proved comes back for ever, so it takes one write fewer.
        if len(turns) >= TURNS_MIN - is_lap:
            yield _in_turn(slice_, turns)
    if is_lap:
        yield from _past_others(slice_, keys)
        # It comes back for ever, so once is enough.
        yield from (cause for _, cause in _made_and_removed(slice_, times_min=1))
        yield from _answering(slice_, keys)
    else:
        # A claim that counts names one of those that were made and ended again and again.
        named = {key.partition("/")[0] for key in slice_.named_keys if _is_undone(slice_, key)}
        for kind, cause in _made_and_removed(slice_, TURNS_MIN):
            if kind in named:
                yield cause


def _is_undone(slice_: Slice, key: str) -> bool:
    return any(map(_undoes, slice_.knowledge.versions.get(key, [])))


def _past_others(slice_: Slice, keys: list[str]) -> Iterator[Cause]:
    """(1) The same of one field, though others write other fields of the object in between."""
    for key in keys:
        for field, versions in sorted(_by_field(slice_.knowledge.versions[key]).items()):
            turns = to_and_fro(versions)
            if len(turns) >= TURNS_MIN - 1 and fought_over(turns) == field:
                yield _in_turn(slice_, turns)


def _by_field(versions: list[Version]) -> dict[str, list[Version]]:
    found: dict[str, list[Version]] = {}
    for version in versions:
        old, new = version.change.old, version.change.new
        for field in changed_fields(old.value, new.value) if old and new else ():
            found.setdefault(field, []).append(version)
    return found


def _answering(slice_: Slice, keys: list[str]) -> Iterator[Cause]:
    """(3) Each sets a field of its own, one because of the other; or one actor sets a field and
    sets it back."""
    flips = []
    for key in keys:
        for field, versions in sorted(_by_field(slice_.knowledge.versions[key]).items()):
            if len(versions) > 1 and fought_over(versions[-2:]) == field:
                flips.append((field, versions))
    flips.sort(key=lambda flip: -flip[1][-1].step)
    if not flips:
        return
    field, versions = flips[0]
    last = versions[-1]
    others = [flip for flip in flips if flip[1][-1].actor != last.actor]
    if others:
        its, since = others[0][0], others[0][1][-1]
        head = f"{since.actor} and {last.actor} answer each other's writes again and again"
        each = f"{_set(since, its, since.key)}, {_set(last, field, last.key)}"
    else:
        since = versions[-2]
        head = f"{last.actor} undoes its own writes of {field} of {last.key} again and again"
        each = f"{_set(since, field)}, {_set(last, field)}"
    text, did_ = sentence(f"{head}: {each}"), f"{last.word} {last.key}"
    yield Cause(CauseShape.DISAGREE, text, last.actor, did_, since, last.step)


def _is_lap(slice_: Slice) -> bool:
    return slice_.violation is not None and slice_.violation.reason == LAP


def _in_turn(slice_: Slice, turns: list[Version]) -> Cause:
    """(1) `left and right undo each other's writes of data.at of notes/default/rope, 8 times: left
    set it "a" → "b" (step 60), right set it "b" → "a" (step 64)`."""
    undone, last = turns[-2:]
    field = fought_over(turns)
    what = f"{field} of {last.key}" if field else last.key
    head = f"{undone.actor} and {last.actor} undo each other's writes of {what}"
    each = ", ".join(_set(version, field) for version in (undone, last))
    text = sentence(
        f"{head}, {len(turns)} times: {each}",
        (_each_by_its_rule(slice_, turns), "; each by its own rule", ""),
    )
    did_ = f"{last.word} {last.key}"
    return Cause(CauseShape.DISAGREE, text, last.actor, did_, undone, last.step)


def fought_over(turns: list[Version]) -> str:
    """The field that both sides write: one that the last write set back to what it was before the
    one that it undid, else one that both changed; empty if there is none."""
    undone, last = (version.change for version in turns[-2:])
    old, between, new = undone.old, last.old, last.new
    if old is None or between is None or new is None:
        return ""
    before = set(changed_fields(old.value, between.value))
    both = [field for field in changed_fields(between.value, new.value) if field in before]
    back = [f for f in both if field_of(new.value, f) == field_of(old.value, f)]
    return next(iter([*back, *both]), "")


def _set(version: Version, field: str, key: str = "") -> str:
    """`gitops set it "5" → "2" (step 60)`; with the key of the object, `set data.at of …`."""
    where = f"(step {version.step})"
    old, new = version.change.old, version.change.new
    if not field or old is None or new is None:
        return f"{version.actor} {did(version, 'it')} {where}"
    became_ = became(field_of(old.value, field), field_of(new.value, field))
    return f"{version.actor} set {f'{field} of {key}' if key else 'it'} {became_} {where}"


def _each_by_its_rule(slice_: Slice, turns: list[Version]) -> str:
    """That neither was behind, if the trace shows it of the last turns of both."""
    acts = {act.step: act for act in slice_.knowledge.acts if act.versions}
    for version in turns[-2:]:
        act = acts[version.step]
        if slice_.knowledge.known(act.path, version.key, act.decided) is None:
            return "; each by its own rule"
        if any(slice_.knowledge.stale(act, [version.key])):
            return ""
    return "; each knew what the other had written"


def _made_and_removed(slice_: Slice, times_min: int) -> Iterator[tuple[str, Cause]]:
    """(2) `alpha deletes pods and batch creates them again, 7 times: …`; with the kind of these."""
    made: dict[str, list[Version]] = {}
    gone: dict[str, list[Version]] = {}
    for key, versions in slice_.knowledge.versions.items():
        kind = key.partition("/")[0]
        if kind in (Event.plural, Lease.plural):
            continue
        is_undone = False
        for version in versions:
            if version.change.old is None:
                made.setdefault(kind, []).append(version)
                is_undone = False
            # Whoever sweeps up what is over, or waits for its end, undoes nothing.
            if not is_undone and _undoes(version):
                gone.setdefault(kind, []).append(version)
                is_undone = True
    for kind in sorted(made.keys() & gone.keys()):
        maker, remover = (_busiest(each[kind]) for each in (made, gone))
        one = [v for v in made[kind] if v.actor == maker]
        other = [v for v in gone[kind] if v.actor == remover]
        if maker == remover or min(len(one), len(other)) < times_min:
            continue
        again = max(one, key=lambda version: version.step)
        before = [version for version in other if version.step < again.step]
        last = max(before or other, key=lambda version: version.step)
        that, times = _that_one_binds(slice_, other), counted(len(other), "time")
        verb = "ends" if ended_for(last) else "removes"
        text = sentence(
            f"{remover} {verb} {kind}{that} and {maker} makes new ones, {times}: last",
            f"{_undid(last)} (step {last.step}), {maker} {did(again)} (step {again.step})",
            _set_aside(slice_, last),
        )
        did_, bind = f"{last.word} {last.key}", _bind_of(slice_, last)
        also = (bind.step,) if that and bind is not None else ()
        yield kind, Cause(CauseShape.DISAGREE, text, remover, did_, again, last.step, also)


def _undoes(version: Version) -> bool:
    """Whether it removed the object or marked it for deletion, or gave the reason why a pod has
    failed: a kubelet evicts, and others sweep up."""
    old, new = version.change.old, version.change.new
    if old is None or new is None:
        return new is None
    is_marked = DELETED in changed_fields(old.value, new.value)
    return is_marked or bool(ended_for(version))


def _undid(version: Version) -> str:
    """`pod-gc deleted pods/default/c`, `kubelet-n1 set status.reason of pods/default/c to …`."""
    return f"{version.actor} {ended(version) or did(version)}"


def _busiest(versions: list[Version]) -> str:
    times = Counter(version.actor for version in versions)
    return min(times, key=lambda actor: (-times[actor], actor))


def _that_one_binds(slice_: Slice, gone: list[Version]) -> str:
    """`, that alpha binds to n1,` if all of these pods were bound by one actor to one node."""
    binds = [_bind_of(slice_, version) for version in gone]
    found = {bind and (bind.actor, did_where(bind, "it").rpartition(" ")[2]) for bind in binds}
    one = found.pop() if len(found) == 1 else None
    return f" that {one[0]} binds to {one[1]}," if one else ""


def _bind_of(slice_: Slice, gone: Version) -> Version | None:
    """The write that had given a pod its node."""
    for version in reversed(slice_.knowledge.versions.get(gone.key, [])):
        old, new = version.change.old, version.change.new
        is_bind = version.word == BIND and version.step < gone.step
        if is_bind and old and new and NODE in changed_fields(old.value, new.value):
            return version
    return None


def _set_aside(slice_: Slice, last: Version) -> tuple[str, ...]:
    """Whose room the pod that was removed last had got; the longest wording first."""
    bind = _bind_of(slice_, last)
    made = next(nominations(slice_.knowledge, bind), None) if bind is not None else None
    if made is None:
        return ("",)
    return (f"; it stood in the room that {made.actor} had set aside for {made.key}", "")
