"""Wording: a write, a value or a list of names, as the sentences of a story say it."""

from __future__ import annotations

from testbed.objects.condition import Condition
from testbed.objects.meta import changed_fields, field_of
from testbed.store.change import Change
from testbed.story.knowledge import Act, Known, Version
from testbed.story.sightings import GET, LIST, WROTE
from testbed.story.values import shown, tells_messages
from testbed.turns.trace import Step
from testbed.words import past, withheld

FIELDS_MAX = 2
SAID_MAX = 9
"""At most this many words of a record stand in the sentence that opens a story."""
TURNS_MIN = 5
"""This many writes of one object, each by another actor than the one before, are a to and fro."""
NODE = "spec.node_name"
DELETED = "meta.deleted_ms"
GENERATION = "meta.generation"
"""It only counts the changes of other fields."""
EVICT = "evict"
PHASE, REASON = "status.phase", "status.reason"
RUNNING, FAILED = "Running", "Failed"
STATES = {
    NODE: ("was on no node", "was on {}"),
    DELETED: ("was not being deleted", "was being deleted"),
    "status.nominated_node_name": ("had no nominated node", "was nominated to {}"),
    "status.phase": ("had no phase", "was {}"),
    "spec.unschedulable": ("was not cordoned", "was cordoned"),
}
"""Fields that people have words for: when it is empty, and when it is not."""


def did(version: Version, what: str = "") -> str:
    """What the writer of a version did: `bound pods/default/c`. `what` stands for its key."""
    what, change = what or version.key, version.change
    if version.asked:
        return f"changed {what} for its {version.word} of {version.asked}"
    if change.new is None and version.word not in ("delete", EVICT):
        # A pod whose last finalizer is patched away, or that its update lets go.
        return f"removed {what} by its {version.word} of it"
    if version.word in ("delete", EVICT) and change.new is not None:
        return _on_its_way(version, what)
    return f"{past(version.word)} {what}"


def _on_its_way(version: Version, what: str) -> str:
    """A part of a deletion that leaves the object there."""
    old, new = version.change.old, version.change.new
    was, now = (each and field_of(each.value, DELETED) for each in (old, new))
    if version.word == EVICT and was == now:
        return f"began to evict {what}"
    return f"marked {what} for deletion" + (" by evicting it" if version.word == EVICT else "")


def did_where(version: Version, what: str = "") -> str:
    """The same, with the node of a bind: `bound pods/default/c to n1`."""
    node = field_of(version.change.new.value, NODE) if version.change.new else None
    return did(version, what) + (f" to {node}" if version.word == "bind" and node else "")


def acted(act: Act) -> str:
    """What an act was, with its Step: `alpha bound pods/default/c to n1 (step 22)`."""
    if act.record is not None:
        words = act.record.said.partition(": ")[0].split()
        said = " ".join(words[:SAID_MAX]) + ("…" if len(words) > SAID_MAX else "")
    else:
        said = did_where(own_of(act))
    return f"{act.actor} {said} (step {act.step})"


def reported(act: Act, words: set[str]) -> str:
    """What an act was, by the field that it set to one of these words, if it did: `kubelet-n1 set
    status.phase of pods/default/c to "Failed" (step 46)`."""
    for version in act.versions:
        old, new = version.change.old, version.change.new
        fields = changed_fields(old.value, new.value) if old and new else ()
        for field in fields:
            value = field_of(new.value, field) if new else None
            if str(value) in words and not field.endswith("_ms"):
                what = f"set {field} of {version.key} to {shown(value)}"
                return f"{act.actor} {what} (step {act.step})"
    return acted(act)


def ended_for(version: Version) -> str:
    """The reason for which that write let a pod fail, as a kubelet does that evicts or refuses it;
    empty if it gave none."""
    old, new = version.change.old, version.change.new
    if old is None or new is None or REASON not in changed_fields(old.value, new.value):
        return ""
    return str(field_of(new.value, REASON)) if field_of(new.value, PHASE) == FAILED else ""


def ended(version: Version) -> str:
    """`set status.reason of pods/default/c to "Evicted"`; empty if that write ended no pod so."""
    reason = ended_for(version)
    return f'set {REASON} of {version.key} to "{reason}"' if reason else ""


def own_of(act: Act) -> Version:
    """Of what an act wrote, what its request was about; if it was about none of that, the first."""
    return next((version for version in act.versions if not version.asked), act.versions[0])


def wrote(version: Version, what: str = "") -> str:
    """What a write was, with its revision and Step: `beta bound it to n1 at rv 5 (step 20)`."""
    where = f"at rv {version.revision} (step {version.step})"
    return f"{version.actor} {did_where(version, what)} {where}"


def believed(known: Known, version: Version, field: str = "", what: str = "") -> str:
    """What was taken to be so, and was changed by that write: `pods/default/d was on no node`.
    `field` is the changed field that matters, if one does more than the others; `what` stands for
    its key."""
    key, entry, change = what or known.key, known.entry, version.change
    if entry is None:
        return f"there was no {known.key}"
    if change.new is None:
        return f"{key} was there"
    fields = [field] if field else list(changed_fields(entry.value, change.new.value))
    if not fields:
        return f"{key} was as at rv {entry.revision}"
    telling = [each for each in fields if each != GENERATION] or fields
    first = next((each for each in telling if each in STATES), telling[0])
    was = field_of(entry.value, first)
    if first in STATES:
        empty, full = STATES[first]
        # A time of 0 is no empty field.
        is_plain = was is None or was is False or was == ""
        return f"{key} {empty if is_plain else full.format(was)}"
    whose = "its " + first if key == "it" else f"{first} of {key}"
    return f"{whose} was {shown(_others(was, field_of(change.new.value, first)))}"


def known_by(known: Known, since: Version) -> str:
    """How something was known: `as it listed at rv 4 (step 5)`, or `as of rv 2, by its list at rv 4
    (step 5)` if it is older than the list; and of which server, if that had not read yet what
    another had written."""
    sighting, entry = known.sighting, known.entry
    is_older = sighting.how == LIST and entry is not None and entry.revision != sighting.revision
    how = {GET: "it read", LIST: "it listed", WROTE: "it left it"}.get(sighting.how, "it was told")
    if sighting.server and since.step < sighting.read:
        how += (
            f" by {sighting.server}, which was behind,"
            if how == "it was told"
            else (f" from {sighting.server}, which was behind,")
        )
    if entry is not None and is_older:
        by = how.replace("it listed", "its list", 1)
        return (
            f"as of rv {entry.revision}, by {by} at rv {sighting.revision} (step {sighting.read})"
        )
    revision = entry.revision if entry is not None else sighting.revision
    return f"as {how} at rv {revision} (step {sighting.read})"


def changed(change: Change) -> str:
    """How a write changed an object: its first fields, before → after."""
    if change.old is None or change.new is None:
        return ""
    old, new = change.old.value, change.new.value
    fields = list(changed_fields(old, new))
    said = [
        f"{field} {became(field_of(old, field), field_of(new, field))}"
        for field in fields[:FIELDS_MAX]
    ]
    more = [f"and {len(fields) - FIELDS_MAX} more"] if len(fields) > FIELDS_MAX else []
    return f": {', '.join([*said, *more])}" if said else ""


def were(known: object, change: Change) -> str:
    """What the first fields that a write changed were in an older version, `known`."""
    if change.old is None or change.new is None:
        return ""
    fields = list(changed_fields(change.old.value, change.new.value))[:FIELDS_MAX]
    new = change.new.value
    said = [
        f"{field} was {shown(_others(field_of(known, field), field_of(new, field)))}"
        for field in fields
    ]
    return f": {', '.join(said)}" if said else ""


def became(old: object, new: object) -> str:
    """A field before → after. Of a list of conditions, only those that changed."""
    was, now = (shown(_others(one, other)) for one, other in ((old, new), (new, old)))
    if was != now:
        return f"{was} → {now}"
    return f"{was}, in other {'words' if tells_messages(new) else 'details'}"


def _others(value: object, known: object) -> object:
    """The value; without the conditions that the other value has too."""
    if not (isinstance(value, tuple) and isinstance(known, tuple)):
        return value
    return tuple(each for each in value if each not in known or not isinstance(each, Condition))


def to_and_fro(versions: list[Version]) -> list[Version]:
    """The last of these writes, as long as the same two actors wrote in turn."""
    turns: list[Version] = []
    for version in reversed(versions):
        if len(turns) > 1 and version.actor != turns[-2].actor:
            break
        if turns and version.actor == turns[-1].actor:
            break
        turns.append(version)
    return turns[::-1]


def came(step: Step) -> str:
    """What an actor got in that Step: `the answer to its bind of pods/default/a`."""
    option = step.option
    return withheld(step.kind, option.verb, option.key)


def listed(names: list[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
