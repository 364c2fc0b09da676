"""Fresh causes: the opening of stories that nobody had read before their cause was written down.

Each World of `tests/models/worlds/fresh_incidents.py`, of `fresh_neighbours.py`, of
`fresh_operators.py` and of `fresh_arrivals.py` says its TRUTH in words; here it stands in data,
with the words that the sentence must have and those that it must not.
"""

from __future__ import annotations

import re
from functools import cache

import attrs

from testbed.choosers.uniform import Uniform
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.story.cause import CauseShape
from testbed.story.diagram import Row, Rows
from testbed.story.sentences import Sentences
from testbed.story.slice import Slice
from testbed.testing.seek import seek
from testbed.turns.trace import Trace
from testbed.turns.verdict import Violation
from testbed.world.scenario import find, of
from tests.each_row import each_row
from tests.models.truths import Truth, can_be_repeated, cause_in
from tests.models.worlds import fresh_arrivals, fresh_incidents, fresh_neighbours, fresh_operators

OLD, UNREAD, HALF = CauseShape.OLD_NEWS, CauseShape.UNREAD, CauseShape.HALF_DONE
HAPPENED, DISAGREE = CauseShape.DID_IT_HAPPEN, CauseShape.DISAGREE


@attrs.frozen
class Fresh:
    """What a person knows of one incident."""

    truth: Truth
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    race: str = ""
    """The lines of a race, if the first one that a search finds is another."""


FRESH = {
    "shrunk_node": Fresh(
        Truth(
            UNREAD, "admin", "update/status nodes/n1", "alpha bind pods/default/c"
        ),
        ("so kubelet-n1 set status.phase of pods/default/c",),
    ),
    "descheduled": Fresh(
        Truth(
            DISAGREE,
            "descheduler",
            "evict pods/default/web-52c76",
            "web create pods/default/web-bkh29",
        ),
        ("descheduler removes pods that default-scheduler binds to n1", "web makes new ones"),
    ),
    "slow_bind": Fresh(
        Truth(OLD, "alpha", "bind pods/default/c", "beta bind pods/default/d"),
        ("its bind took 35,000 ms, as the scenario states",),
    ),
    "slow_watch": Fresh(
        Truth(OLD, "beta", "bind pods/default/d", "alpha bind pods/default/c"),
        ("its watch of pods is 40,000 ms late, as the scenario states",),
    ),
    "stale_budget": Fresh(
        Truth(OLD, "drainer", "evict pods/default/web-2", "node-lost delete pods/default/web-1"),
        ("drainer evicted pods/default/web-2", "poddisruptionbudgets/default/web"),
        ("evicted poddisruptionbudgets",),
    ),
    "second_server": Fresh(
        Truth(OLD, "attacher", "attached", "mover update notes/default/volume"),
        ("from api-2, which was behind,",),
    ),
    "best_effort": Fresh(
        Truth(
            UNREAD,
            "alpha",
            "delete pods/default/web-1",
            "disruption update/status poddisruptionbudgets/default/web",
        ),
        ("a delete asks no budget",),
        ("believing",),
        """
holds:
- hold: alpha delete pods/default/web-1
  until: disruption update/status poddisruptionbudgets/default/web
""",
    ),
}  # fmt: skip

NEIGHBOURS = {
    "late_count": Fresh(
        Truth(
            OLD,
            "counter",
            "update/status resourcequotas/default/one",
            "beta create pods/default/b",
        ),
        ("so alpha created pods/default/a",),
    ),
    "two_objects": Fresh(
        Truth(DISAGREE, "ann", "update notes/default/x", "ben update notes/default/y"),
        ("data.on of notes/default/x", "data.on of notes/default/y"),
    ),
    "one_rule": Fresh(
        Truth(DISAGREE, "ann", "update notes/default/x", "ann update notes/default/x"),
        ("ann undoes its own writes of data.on",),
    ),
    "third_writer": Fresh(
        Truth(
            DISAGREE, "autoscaler", "update notes/default/web", "gitops update notes/default/web"
        ),
        ("data.replicas of notes/default/web", "gitops set it", "autoscaler set it"),
        ("checked_at", "applied_at", "stamp"),
    ),
    "finalizer_conflict": Fresh(
        Truth(OLD, "keeper", "update notes/default/volume", "toucher update notes/default/volume"),
        ("refused, Conflict", "still has its finalizer testbed.example/keeper"),
    ),
    "keeper_gone": Fresh(
        Truth(HALF, "keeper", "crash keeper", ""),
        ("never came back", "still has its finalizer testbed.example/keeper"),
        ("ann",),
    ),
    "slow_answer": Fresh(
        Truth(OLD, "ann", "create notes/default/mine", "ben create notes/default/other"),
        ("its list took 20,000 ms, as the scenario states",),
    ),
}

OPERATORS = {
    "adds_to_its_own": Fresh(
        Truth(OLD, "counter", "update notes/default/n", "counter update notes/default/n"),
        ("to what it was already (step 10)", "its own update of notes/default/n at rv 3"),
    ),
    "counted_twice": Fresh(
        Truth(OLD, "ben", "update notes/default/n", "ann update notes/default/n"),
        ("to what it was already", 'believing that its data.c was "0"'),
    ),
    "collected": Fresh(
        Truth(OLD, "gc", "delete pods/default/p", "maker create notes/default/set"),
        ("believing that there was no notes/default/set",),
    ),
    "late_bucket": Fresh(
        Truth(
            OLD,
            "op",
            "create notes/default/bucket-db",
            "user delete configmaps/default/db",
        ),
        ("believing that configmaps/default/db was there",),
        ("refused",),
    ),
    "alive_and_refused": Fresh(
        Truth(OLD, "worker", "update notes/default/job", "tagger update notes/default/job"),
        ("was refused, Conflict",),
        ("pulse",),
    ),
    "of_a_dead_life": Fresh(
        Truth(
            HAPPENED,
            "op",
            "create notes/default/bucket-db",
            "op create notes/default/bucket-db",
        ),
        ("sent before it crashed", "took effect only at", "its next life's delete of it"),
        ("user",),
    ),
}
ARRIVALS = {
    "outage": Fresh(
        Truth(OLD, "south", "evict pods/default/web-2", "north evict pods/default/web-1"),
        ("so watchman recorded outage",),
        ("watchman evicted",),
    ),
    "late_archive": Fresh(
        Truth(CauseShape.UNKNOWN, "archivist", "notes/default/job", ""),
        (
            "was late (step 2), after cleaner's delete of",
            "without that it would hold",
        ),
    ),
    "no_matter": Fresh(
        Truth(CauseShape.UNKNOWN, "cleaner", "delete notes/default/job", ""),
        ("no Run that was tried shows why",),
        ("archivist",),
        """
holds:
- hold: archivist update notes/default/job
  until: cleaner delete notes/default/job
""",
    ),
}
ROOMS = {
    **dict.fromkeys(ARRIVALS, fresh_arrivals),
    **dict.fromkeys(FRESH, fresh_incidents),
    **dict.fromkeys(NEIGHBOURS, fresh_neighbours),
    **dict.fromkeys(OPERATORS, fresh_operators),
}
ALL = {**FRESH, **NEIGHBOURS, **OPERATORS, **ARRIVALS}


@cache
def finding(name: str) -> tuple[Trace, Violation]:
    """The Run of an incident, and what it breaks."""
    build, race = getattr(ROOMS[name], name), ALL[name].race
    if race:
        played = play(parse(f"scenario: {name}\n{race}", name), of(build))
        assert all(fate.took_place for fate in played.fates)
        return played.trace, played.verdict.violations[0]
    shrunk = seek(build, runs=500).shrunk
    assert shrunk is not None
    return shrunk.played.trace, shrunk.violation


LATE = re.compile(r" \(step [^)]*\)|, held back since step \d+[^,]*,")


@each_row("name", ALL)
def test_the_cause_is_the_one_that_was_written_down(name: str) -> None:
    """Who did what, and since which write of another it was wrong, in few words; with a row for
    each actor that it names; and what an actor did not know is told once."""
    trace, violation = finding(name)
    slice_ = Slice(trace, violation)
    tale = Sentences(slice_)
    found = cause_in(trace, violation)
    fresh = ALL[name]
    assert Truth.told(found) == fresh.truth, found.text
    for words in fresh.says:
        assert words in found.text
    for words in fresh.never:
        assert words not in found.text
    can_be_repeated(found)
    # However few rows there is room for.
    assert tale.cause is not None
    words_told = set(tale.cause.text.replace(",", " ").replace(";", " ").replace("'s", "").split())
    for fits in ((4, 4, 4), (18, 36, 37)):
        shown = [row for row in Rows(trace, slice_, tale).shown(fits) if isinstance(row, Row)]
        assert {row.step for row in shown}.issuperset(tale.cause.steps)
        assert {row.actor for row in shown}.issuperset(slice_.actors & words_told)
    # However many acts it made without it; and not again if the opening says it.
    late = [text for text in tale.sentences if " before its watch of " in text]
    assert len({LATE.sub("", text) for text in late}) == len(late)
    since = tale.cause.since
    if since is not None and tale.cause.shape is OLD:
        told = f"its own {since.word} of {since.key} at rv {since.revision}"
        assert not any(told in text for text in late)


def test_a_late_write_that_broke_it_itself_is_no_remedy() -> None:
    """Each of two creates was on its way when the server checked the other. The last broke it."""
    world = find("two_defaults").world()
    trace = Trace({}, keep=True)
    verdict = world.run(Uniform(2), driver="direct", trace=trace)
    told = cause_in(trace, verdict.violations[0])
    alphas = "alpha create priorityclasses/alpha-default"
    assert Truth.told(told) == Truth(OLD, "beta", "create priorityclasses/beta-default", alphas)
