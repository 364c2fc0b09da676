"""Disagree: two undo each other's work again and again, each by a rule that is right by itself.

1. A to and fro over one object: two actors write it in turn.
2. One makes objects of a kind, and another removes them, whatever they are called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from testbed.objects.event import Event
from testbed.objects.lease import Lease
from testbed.objects.meta import changed_fields
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.knowledge import Version
from testbed.story.promises import nominations
from testbed.story.slice import Slice
from testbed.story.wording import NODE, TURNS_MIN, changed, did, did_where, to_and_fro

TIMES_MIN = 3
"""An object of the kind must have been made and removed so often."""
LAP = "for ever:"
"""How `no_lasso` begins what it says."""


def found(slice_: Slice) -> Iterator[Cause]:
    """The to and fro that the Violation is about."""
    if slice_.violation is None:
        return
    is_lap = slice_.violation.said.startswith(LAP)
    keys = slice_.named_keys & slice_.knowledge.versions.keys()
    for key in sorted(keys or slice_.shared):
        turns = to_and_fro(slice_.knowledge.versions[key])
        # A lap that is proved comes back for ever, so it takes one write fewer.
        if len(turns) >= TURNS_MIN - is_lap:
            yield _in_turn(slice_, turns)
    if is_lap:
        yield from _made_and_removed(slice_)


def _in_turn(slice_: Slice, turns: list[Version]) -> Cause:
    """(1) `left and right undo each other's writes of notes/default/rope, 8 times: …`."""
    undone, last = turns[-2:]
    times = f"{len(turns)} times"
    fields = changed(last.change).removeprefix(": ").split(", ")
    what = f"{last.actor} set {fields[0]}" if fields[0] else f"{last.actor} {did(last, 'it')}"
    before = f"undoing rv {undone.revision} of {undone.actor}"
    if not fields[0]:
        before = f"{undone.actor} {did(undone, 'it')} at rv {undone.revision}"
    each = f"{what} at rv {last.revision} (step {last.step}), {before}"
    text = sentence(
        f"{undone.actor} and {last.actor} undo each other's writes of {last.key}, {times}: {each}",
        (_each_by_its_rule(slice_, turns), "; each by its own rule", ""),
    )
    did_ = f"{last.word} {last.key}"
    return Cause(CauseShape.DISAGREE, text, last.actor, did_, undone, last.step)


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


def _made_and_removed(slice_: Slice) -> Iterator[Cause]:
    """(2) `alpha deletes pods and batch creates them again, 7 times: …`."""
    made: dict[str, list[Version]] = {}
    gone: dict[str, list[Version]] = {}
    for key, versions in slice_.knowledge.versions.items():
        kind = key.partition("/")[0]
        for version in versions if kind not in (Event.plural, Lease.plural) else ():
            if version.change.old is None:
                made.setdefault(kind, []).append(version)
            if version.change.new is None:
                gone.setdefault(kind, []).append(version)
    for kind in sorted(made.keys() & gone.keys()):
        maker, remover = (_busiest(each[kind]) for each in (made, gone))
        one = [v for v in made[kind] if v.actor == maker]
        other = [v for v in gone[kind] if v.actor == remover]
        if maker == remover or min(len(one), len(other)) < TIMES_MIN:
            continue
        last = max(other, key=lambda version: version.step)
        again = max(one, key=lambda version: version.step)
        text = sentence(
            f"{remover} removes {kind} and {maker} makes new ones, {len(other)} times: last",
            f"{remover} {did(last)} (step {last.step}), {maker} {did(again)} (step {again.step})",
            _bound(slice_, last),
        )
        did_ = f"{last.word} {last.key}"
        yield Cause(CauseShape.DISAGREE, text, remover, did_, again, last.step)


def _busiest(versions: list[Version]) -> str:
    counted = Counter(version.actor for version in versions)
    return min(counted, key=lambda actor: (-counted[actor], actor))


def _bound(slice_: Slice, last: Version) -> tuple[str, ...]:
    """Who bound the pod that was removed last, and where; the longest wording first."""
    for version in slice_.knowledge.versions.get(last.key, []):
        old, new = version.change.old, version.change.new
        if old and new and NODE in changed_fields(old.value, new.value):
            bound = f"; {version.actor} had {did_where(version, 'it')}"
            made = next(nominations(slice_.knowledge, version), None)
            held = f", into the room that {made.actor} had set aside for {made.key}" if made else ""
            return (bound + held, bound, "")
    return ("",)
