"""Old news: one acted on what had been so, and was so no longer.

1. What a task knew when it decided, by all that the trace shows: what it read, listed, was told.
2. If it may have known better, what its Cache still showed, or had not shown of its own writes.
3. What an Endpoint had checked before it wrote: the check and the write are two turns.
4. A refusal: what the caller counted on when it asked.
5. A count that an Endpoint went by, such as a budget's, and that was not made again since.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import attrs

from testbed.objects.event import Event
from testbed.objects.meta import UNSET, changed_fields, field_of
from testbed.store.change import plural_of
from testbed.store.footprint import has_read
from testbed.story.believing import believing, still_there
from testbed.story.cause import Cause, CauseShape, before_its_own, sentence
from testbed.story.knowledge import Act, StaleAct, Version
from testbed.story.promises import uncounted
from testbed.story.requests import Sent
from testbed.story.sightings import GET, LIST, WROTE
from testbed.story.slice import Slice
from testbed.story.wording import NODE, acted, believed, wrote

BIND, PODS = "bind", "pods"
LEARNED = {LIST: "listed", GET: "read"}
"""How a life learned what it went by, if it asked; else it was told."""


def found(slice_: Slice) -> Iterator[Cause]:
    """The acts that the Violation is about and that were decided on old news: those of the Step in
    which it was found before the others, and what it speaks of before other news."""
    yield from acted_on(slice_)
    yield from _stale(slice_, list(_lost(slice_)))
    yield from _refused(slice_)


def acted_on(slice_: Slice) -> Iterator[Cause]:
    """The same, without what was refused or undone before."""
    acts = slice_.breaking
    last = [act for act in acts if act.step == acts[0].step]
    for some in (last, acts[len(last) :]):
        for act in some:
            yield from _checked(slice_, act)
            yield from _counted(slice_, act)
        causes = [
            *_stale(slice_, [stale for act in some for stale in _of(slice_, act)]),
            *(cause for act in some for cause in _by_cache(slice_, act)),
            *(cause for act in some for cause in _unseen(slice_, act)),
        ]
        yield from sorted(causes, key=lambda cause: not _is_told_of(slice_, cause))


def _lost(slice_: Slice) -> Iterator[StaleAct]:
    """(1) Earlier writes over what the Violation names: what they undid is missed ever since."""
    for act in slice_.knowledge.acts:
        keys = slice_.named_keys.intersection(act.keys)
        if act.step in slice_.needed and act.versions:
            for stale in slice_.knowledge.stale(act, sorted(keys)):
                if not _is_blind(slice_, stale):
                    yield stale


def _is_told_of(slice_: Slice, cause: Cause) -> bool:
    since = cause.since
    return since is not None and (slice_.is_spoken_of(since) or since.change.new is None)


def weaker(slice_: Slice) -> Iterator[Cause]:
    """Acts on old news that led to it, though the Violation is not about them; and acts of a life
    that began with older news than the life before."""
    some = [stale for stale in slice_.stale if _matters(slice_, stale)]
    yield from _stale(slice_, [stale for stale in some if not _is_blind(slice_, stale)])
    for act in slice_.breaking:
        yield from _back_in_time(slice_, act)


def told(slice_: Slice) -> Iterator[Cause]:
    """What the story tells anyway of the acts that the Violation is about: what they were decided
    on, and was old, though the Violation speaks of none of it."""
    steps = {act.step for act in slice_.breaking}
    some = [stale for stale in slice_.stale if stale.act.step in steps]
    yield from _stale(slice_, [stale for stale in some if not _is_blind(slice_, stale)])


def _back_in_time(slice_: Slice, act: Act) -> Iterator[Cause]:
    """What a life learned first, and what the life before it had been told."""
    for key in sorted(slice_.named_keys):
        back = slice_.knowledge.went_back(act, key)
        if back is None:
            continue
        first, version = back
        how = LEARNED.get(first.how, "was told")
        who = f" from {first.server}, which was behind," if first.server else ""
        text = sentence(
            f"{acted(act)}; that life of it {how}{who} at rv {first.revision} (step {first.read}),",
            f"and the one before had been told that {wrote(version)}",
        )
        yield Cause.of(CauseShape.OLD_NEWS, act, text, version)


def _of(slice_: Slice, act: Act) -> Iterator[StaleAct]:
    for stale in slice_.knowledge.stale(act, sorted(slice_.shared | set(act.keys))):
        if _matters(slice_, stale) and not _is_blind(slice_, stale):
            yield _deed(slice_, stale)


def _is_blind(slice_: Slice, stale: StaleAct) -> bool:
    """Whether it is a delete of whatever is there, and its actor had not looked at that since it
    had written it itself: then it believed nothing of its fields."""
    act, key = stale.act, stale.known.key
    if act.word != "delete" or key not in act.keys or stale.known.sighting.how != WROTE:
        return False
    sent = slice_.requests.of(act.step)
    asked = sent.parts[0].operation if sent is not None else None
    is_asked = asked is None or asked.revision != UNSET or asked.uid or asked.options
    is_other = any(version.change.new is None for version in stale.missed)
    has_reason = slice_.causality.steps[act.step].because
    return not (is_asked or is_other or has_reason)


def _deed(slice_: Slice, stale: StaleAct) -> StaleAct:
    """The last write of the same task on the same old news, if all that is stale is a record."""
    return (_deed_before(slice_, stale) if stale.act.record is not None else None) or stale


def _deed_before(slice_: Slice, stale: StaleAct) -> StaleAct | None:
    """The last write of the same task before that, on the same old news; None if there is none."""
    act, key = stale.act, stale.known.key
    for other in reversed(slice_.knowledge.acts):
        if other.versions and other.path == act.path and other.step <= act.decided:
            for same in slice_.knowledge.stale(other, [key]):
                if same.known.sighting == stale.known.sighting:
                    return same
    return None


def _takes_room(version: Version) -> bool:
    """Whether it is no pod, or that write changed on which node the pod is, or removed it."""
    old, new = version.change.old, version.change.new
    if plural_of(version.key) != PODS or new is None:
        return True
    node = field_of(new.value, NODE)
    return bool(node) and (old is None or field_of(old.value, NODE) != node)


def _matters(slice_: Slice, stale: StaleAct) -> bool:
    """Whether it has to do with what the Violation names."""
    key, act = stale.known.key, stale.act
    if act.word == BIND and key not in act.keys and not any(map(_takes_room, stale.missed)):
        return False  # a pod without a node is in nobody's way
    if key in slice_.named_keys or any(map(slice_.is_spoken_of, stale.missed)):
        return True
    return key in act.keys or act.record is not None


def _stale(slice_: Slice, some: list[StaleAct]) -> Iterator[Cause]:
    """(1) The weightiest first; of those alike, the last."""
    ranked = sorted(some, key=lambda stale: (-slice_.weight(stale), -stale.act.step))
    for stale in ranked:
        cause = _believing(slice_, stale, acted(stale.act))
        assert cause.since is not None
        if not slice_.is_same_anyway(stale, cause.since):
            yield cause


def _believing(
    slice_: Slice, stale: StaleAct, head: str, link: str = ", believing that", still: str = ""
) -> Cause:
    since = next(filter(slice_.is_spoken_of, stale.missed), stale.missed[0])
    return believing(slice_, stale, since, head, _field(slice_, since), link=link, still=still)


def _field(slice_: Slice, version: Version) -> str:
    """The field of that write that the Violation speaks of; empty if none is."""
    old, new = version.change.old, version.change.new
    if old is None or new is None:
        return ""
    fields = changed_fields(old.value, new.value)
    return next((f for f in fields if str(field_of(new.value, f)) in slice_.words), "")


def _by_cache(slice_: Slice, act: Act) -> Iterator[Cause]:
    """(2) An act is told by what the actor's Cache showed, if that was old."""
    knowledge = slice_.knowledge
    for key in sorted(slice_.shared):
        known = knowledge.cached(act, key)
        early = attrs.evolve(act, step=act.decided)
        missed = tuple(knowledge.missed(known, early)) if known is not None else ()
        since = next(filter(slice_.is_spoken_of, missed), None)
        if known is None or since is None or since.actor == act.actor:
            continue
        if slice_.is_same_anyway(StaleAct(act, known, missed), since):
            continue
        said = believed(known, since, _field(slice_, since))
        text = sentence(
            f"{acted(act)} while its Cache still showed that {said}",
            (f"(rv {known.entry.revision})" if known.entry else "", ""),
            f"; {wrote(since, 'it')}",
        )
        yield Cause.of(CauseShape.OLD_NEWS, act, text, since)


def _unseen(slice_: Slice, act: Act) -> Iterator[Cause]:
    """(2) An act that was decided before the actor's own write came back to its Cache: the last
    write of what the Violation names; else the first of what it counts."""
    own = [own for at, own in slice_.unseen if at.step == act.step and own.step < act.step]
    for version in sorted(own, key=lambda version: -version.step):
        if version.key in slice_.named_keys or slice_.is_spoken_of(version):
            yield _before(act, version)
    counted = [version for version in own if version.key in slice_.counted]
    yield from _without_its_own(slice_, act, sorted(counted, key=lambda version: version.step))


def _without_its_own(slice_: Slice, act: Act, own: Iterable[Version]) -> Iterator[Cause]:
    """(2) Writes of its own that its Cache did not show, and with which it would not have acted."""
    for version in own:
        known = slice_.knowledge.cached(act, version.key)
        if known is None or slice_.is_same_anyway(StaleAct(act, known, (version,)), version):
            continue
        yield _before(act, version)


def _before(act: Act, own: Version) -> Cause:
    return Cause.of(CauseShape.OLD_NEWS, act, before_its_own(acted(act), own), own)


def _checked(slice_: Slice, act: Act) -> Iterator[Cause]:
    """(3) What another wrote between the check of an Endpoint and its write."""
    sent = slice_.requests.of(act.step) if act.versions else None
    for at, what in sent.checked() if sent is not None else ():
        for version in _between(slice_, what, at, act):
            text = sentence(
                f"{acted(act)} on a check that its server had made before (step {at}):",
                f"{wrote(version)}, between the check and the write",
            )
            yield Cause.of(CauseShape.OLD_NEWS, act, text, version)


def _counted(slice_: Slice, act: Act) -> Iterator[Cause]:
    """(5) An eviction that a budget allowed which still counted a pod that was gone."""
    for version in act.versions:
        for budget, gone in uncounted(slice_.knowledge, version):
            text = sentence(
                f"{acted(act)}, as {budget} allowed, which still counted {gone.key};",
                f"{wrote(gone, 'that')}",
            )
            yield Cause.of(CauseShape.OLD_NEWS, act, text, gone)


def _between(slice_: Slice, what: str, at: int, act: Act) -> Iterator[Version]:
    for key, versions in slice_.knowledge.versions.items():
        if has_read((what,), key) and key not in act.keys:
            for version in versions:
                matters = key in slice_.named_keys or slice_.is_spoken_of(version)
                if at < version.step < act.step and version.actor != act.actor and matters:
                    yield version


def _refused(slice_: Slice) -> Iterator[Cause]:
    """(4) A request that was refused, and what its caller had counted on; before that, what it did
    on the same belief and was not refused."""
    violation = slice_.violation
    for sent in reversed(slice_.requests.all):
        is_late = violation is not None and sent.step > violation.step
        if not sent.refused or is_late or _made_good(slice_, sent):
            continue
        if sent.key not in slice_.named_keys and sent.actor not in slice_.named_actors:
            continue
        act = Act(sent.step, sent.asked, sent.path, sent.actor, sent.word)
        reads = {key for part in sent.parts for key in part.marks.reads}
        keys = sorted((reads | {sent.key}) & slice_.knowledge.versions.keys())
        head = f"{sent.actor}'s {sent.word} of {sent.key} was refused, {sent.refused} "
        for stale in slice_.knowledge.stale(act, keys):
            deed = _deed_before(slice_, stale)
            if deed is not None and deed.act.step in slice_.needed and _speaks_of_it(deed):
                # What it did on that belief before it was refused is no symptom. It need not do
                # otherwise when it is told, if it goes by what it had taken from a queue.
                yield _believing(slice_, deed, acted(deed.act))
            link = f": {sent.actor} believed that"
            still = still_there(slice_, [sent.key]) or f"; {sent.actor} never did it again"
            cause = _believing(slice_, stale, f"{head}(step {sent.step})", link, still)
            yield attrs.evolve(cause, did=f"{sent.word} {sent.key}")


def _speaks_of_it(stale: StaleAct) -> bool:
    """Whether what it wrote bears the name of what it believed something of, as a bucket bears that
    of its ConfigMap; an actor that says that it is alive writes of nothing else."""
    name = re.escape(stale.known.key.rpartition("/")[2])
    written = [v for v in stale.act.versions if not v.key.startswith(Event.plural)]
    values = [f"{v.key} {v.change.after}" for v in written]
    return any(re.search(rf"(?<![a-z0-9]){name}(?![a-z0-9])", value) for value in values)


def _made_good(slice_: Slice, sent: Sent) -> bool:
    """Whether the same actor did it later all the same."""
    return any(
        other.actor == sent.actor
        and (other.word, other.key) == (sent.word, sent.key)
        and other.step > sent.step
        and not other.refused
        and other.parts
        for other in slice_.requests.all
    )
