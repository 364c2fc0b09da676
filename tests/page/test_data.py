"""Data: what a page shows of a Run is what happened in it, in every part of it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import attrs
import pytest

from testbed.child import child_env
from testbed.cli.explained import played
from testbed.objects.codec import decode, encode
from testbed.page.data import BYTES_MAX, page_data
from testbed.page.subject import PageSubject
from testbed.races.trust import Trust
from testbed.store.change import plural_of
from testbed.story.knowledge import Knowledge
from testbed.story.sightings import Sighting
from testbed.story.slice import Slice
from testbed.world.scenario import find
from tests.each_row import each_row
from tests.page.told_pages import RACES, AddedUp, arrows_of, page_of, subject_of

FEW = ("lost_update", "stolen_slot", "late_bind", "crash_and_resync")
QUIET = ("events/", "leases/")
FIELDS = {
    "format", "title", "outcome", "claim", "said", "setting", "cause", "causeSteps", "sentences",
    "figures", "again", "issue", "race", "runs", "calm", "whatIf", "growth", "looked", "keep",
    "map", "level",
}  # fmt: skip
"""Those of PageData in types.d.ts."""


@pytest.fixture(params=FEW)
def page(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The page of one race."""
    return page_of(request.param)


@each_row("name", FEW)
def test_the_truth_of_each_row_is_that_of_the_store(name: str) -> None:
    """At each row, what the rows so far add up to is what the Store had at that revision."""
    run, store = page_of(name)["runs"][0], subject_of(name).trace.played_in.store
    there = AddedUp()
    for row in run["moments"]:
        there.add(run, row)
        snapshot = store.snapshot("", at=row["rv"])
        kept = {entry.key: entry.revision for entry in snapshot if entry.key in there.truth}
        assert there.revisions == kept, row["step"]
    now = {entry.key: entry.revision for entry in store.snapshot("")}
    assert there.revisions == {k: rv for k, rv in now.items() if not k.startswith(QUIET)}


def _last_learned(
    knowledge: Knowledge, lane: str, key: str, born: int, until: int
) -> Sighting | None:
    kind = plural_of(key)
    cached = (
        each.step
        for who, what, each in knowledge.of_actors.in_order()
        if who == lane and plural_of(what) == kind and each.by_cache and born <= each.step
    )
    since = next(cached, until + 1)
    found = (each for some in knowledge.of_actors.of(lane, key) for each in some)
    counts = [s for s in found if born <= s.step <= until and (s.by_cache or s.step < since)]
    return max(counts, key=lambda each: each.step, default=None)


@each_row("name", FEW)
def test_what_an_actor_believes_is_what_it_knew(name: str) -> None:
    """At each row, each actor takes each object to be as it last learned of it in that life; of
    what it keeps a Cache of, as that Cache shows it."""
    run, trace = page_of(name)["runs"][0], subject_of(name).trace
    knowledge, there, compared = Knowledge(trace), AddedUp(), 0
    ends = {(actor, step) for actor, step in Slice(trace).requests.ends}
    for row in run["moments"]:
        there.add(run, row)
        for lane in there.beliefs:
            born = knowledge.birth(lane, row["step"])
            if any(actor == lane and born < step <= row["step"] for actor, step in ends):
                assert not there.beliefs[lane]  # its life is over
                continue
            for key in knowledge.versions:
                if key.startswith(QUIET):
                    continue
                last = _last_learned(knowledge, lane, key, born, row["step"])
                entry = knowledge.entry(key, last.revision) if last is not None else None
                is_there = last is not None and last.selector.has(entry)
                known = entry.revision if entry is not None and is_there else None
                believed = there.beliefs[lane].get(key)
                assert (believed and believed["rv"]) == known, (row["step"], lane, key)
                compared += known is not None
    assert compared > 5


def test_with_its_life_all_that_an_actor_believed_is_gone() -> None:
    """The scheduler that crashes believes nothing at once, and reads everything once more."""
    run = page_of("crash_and_resync")["runs"][0]
    there, emptied = AddedUp(), []
    for row in run["moments"]:
        there.add(run, row)
        for belief in row["beliefs"]:
            if belief["over"]:
                assert not there.beliefs[belief["lane"]]
                emptied.append((belief["lane"], row["step"]))
    crash = next(m for row in run["moments"] for m in row["marks"] if m["sign"] == "struck")
    assert emptied == [("default-scheduler", crash["step"])]
    assert there.beliefs["default-scheduler"]


def test_the_parts_of_a_page_fit_each_other(page: dict[str, Any]) -> None:
    """Lanes, rows, versions, sentences and Runs are named as they are numbered."""
    assert page.keys() == FIELDS
    assert decode(encode(page)) == page
    for number, run in enumerate(page["runs"]):
        lanes = [lane["name"] for lane in run["lanes"]]
        kinds = [lane["kind"] for lane in run["lanes"]]
        assert len(lanes) <= 8
        assert abs(2 * kinds.index("store") - len(lanes) + 1) <= 1
        steps = [row["step"] for row in run["moments"]]
        assert steps == sorted(set(steps))
        assert steps[0] == 0
        for arrow in run["arrows"]:
            for end in (arrow["from"], arrow["to"]):
                assert end["lane"] in lanes
                assert end["step"] in steps
        for row in run["moments"]:
            assert {mark["lane"] for mark in row["marks"]} <= {*lanes}
            assert all(0 <= each < len(page["sentences"]) for each in row["tells"])
            assert number == 0 or not row["tells"]
    told = {place for row in page["runs"][0]["moments"] for place in row["tells"]}
    assert told == {*range(len(page["sentences"]))}
    assert all(-1 <= each["run"] < len(page["runs"]) for each in page["whatIf"])


@each_row(
    ("name", "actor", "key"),
    [
        ("lost_update", "beta", "notes/default/list"),
        ("stolen_slot", "beta", "pods/default/urgent"),
    ],
)
def test_an_act_on_old_news_points_to_what_it_missed(name: str, actor: str, key: str) -> None:
    """From the act, in its actor's lane, back to the commit that it did not go by."""
    run, subject = page_of(name)["runs"][0], subject_of(name)
    (stale,) = arrows_of(run, kind="stale")
    steps = {step.number: step for step in subject.trace.steps}
    assert stale["from"] == {"lane": actor, "step": subject.verdict.violations[0].step - (
        1 if name == "lost_update" else 0
    )}  # fmt: skip
    assert stale["to"]["lane"] == "store"
    assert [change.key for change in steps[stale["to"]["step"]].marks.changes] == [key]
    assert stale["to"]["step"] < stale["from"]["step"]


def test_a_lost_reply_is_drawn_lost() -> None:
    """The request has arrived; the arrow of its answer ends before its caller."""
    run = page_of("late_bind")["runs"][0]
    (request,) = arrows_of(run, kind="request", text="bind pods/default/c")
    (answer,) = arrows_of(run, kind="answer", line="lost")
    assert request["line"] == "solid"
    assert answer["from"] == request["to"]
    assert answer["text"] == "default-scheduler got no answer"


def test_what_was_held_back_is_dotted() -> None:
    """A request, and news of a commit."""
    run = page_of("lost_update")["runs"][0]
    (held,) = arrows_of(run, kind="request", line="dotted")
    assert held["text"] == "update notes/default/list"
    assert held["from"]["lane"] == "alpha"
    assert [arrow["line"] for arrow in arrows_of(run, kind="request")].count("solid") == 3
    late = arrows_of(page_of("crash_and_resync")["runs"][0], kind="news", line="dotted")
    assert "pods/default/db rv 6, 5,000 ms late" in [arrow["text"] for arrow in late]
    calm = page_of("lost_update")["runs"][1]
    assert {arrow["line"] for arrow in calm["arrows"]} == {"solid"}


def test_news_that_had_not_come_is_drawn_lost() -> None:
    """Once, though two acts had missed it; and none to an actor that has no watch."""
    (lost,) = arrows_of(page_of("scale_down_race")["runs"][0], kind="news", line="lost")
    assert lost["text"] == "pods/default/web rv 7 had not come"
    assert lost["to"]["lane"] == "autoscaler"
    assert not arrows_of(page_of("late_short_write")["runs"][0], kind="news")


def test_an_object_that_is_to_go_is_marked_until_it_is_gone() -> None:
    """From the commit that asks for its deletion to the one that removes it."""
    subject, run = subject_of("stolen_slot"), page_of("stolen_slot")["runs"][0]
    (span,) = run["terminating"]
    changes = {s.number: c for s in subject.trace.steps for c in s.marks.changes}
    assert span["key"] == changes[span["from"]].key == changes[span["to"]].key
    assert changes[span["from"]].new is not None
    assert changes[span["to"]].new is None


def test_the_scheduler_says_why_each_node_was_refused() -> None:
    """The reasons of a record are its grounds; those of a bind are the record it follows from."""
    marks = [m for row in page_of("stolen_slot")["runs"][0]["moments"] for m in row["marks"]]
    decided = next(mark for mark in marks if mark["text"].startswith("made room for"))
    assert "refused n1: Insufficient cpu" in decided["reasons"]
    bind = next(mark for mark in marks if mark["text"].startswith("bind"))
    assert bind["reasons"] == ["chose n1 for pods/default/late: there is no other node"]
    assert bind["key"] == "pods/default/late"


def test_each_line_left_out_and_the_guard_are_played() -> None:
    """What they show is what the Run at their index shows; without its one line it is calm."""
    page = page_of("late_bind")
    hold, lost, guard = page["whatIf"]
    assert [each["kind"] for each in page["whatIf"]] == ["deviation", "deviation", "switch"]
    assert guard["said"] == "guard=on"
    for each in page["whatIf"]:
        assert each["isNeeded"]
        assert page["runs"][each["run"]]["outcome"] == each["outcome"] == "held"
    assert hold["run"] != lost["run"] != page["calm"]
    one = page_of("lost_update")
    assert [each["run"] for each in one["whatIf"]] == [one["calm"], 2]
    assert [run["name"] for run in one["runs"]] == ["this run", "the calm run", "with guard=on"]


def test_a_line_that_is_not_needed_shows_the_same_breach() -> None:
    """Left out, the Run is violated as before, and the page says so."""
    subject = subject_of("lost_update")
    (tried,) = subject.tried
    idle = attrs.evolve(subject.race.holds[0])
    race = attrs.evolve(subject.race, holds=(*subject.race.holds, idle))
    both = attrs.evolve(
        subject, race=race, tried=(tried, attrs.evolve(tried, deviation=idle, is_necessary=False))
    )
    shown = page_data(both)["whatIf"][1]
    assert (shown["isNeeded"], shown["outcome"], shown["run"]) == (False, "violated", 0)
    assert shown["shown"] == page_data(both)["said"]


def test_what_to_keep_and_how_far_was_looked() -> None:
    """The race file as it stands on disk, the test, the versions; turns, switches, limits."""
    page = page_of("lost_update")
    kept = {each["label"]: each["text"] for each in page["keep"]}
    assert kept["The race file"] == page["race"]["text"] == RACES["lost_update"].read_text()
    assert kept["As a test"] == "pytest lost_update.race.yaml"
    assert kept["Seen with"].startswith("testbed ")
    assert "violates: every_signature_is_kept" in kept["What is expected"]
    looked = {each["label"]: each["value"] for each in page["looked"]}
    assert looked["looked at"] in str(subject_of("lost_update").verdict)
    assert looked["switches"].startswith("guard=off")
    assert [each["value"] for each in page["figures"]] == [
        "1 hold", "1 ms or more", "0", "0 ms",
    ]  # fmt: skip


@each_row("name", FEW)
def test_a_page_keeps_within_its_size(name: str) -> None:
    """Also one with all the Runs that it may show."""
    assert len(encode(page_of(name))) <= BYTES_MAX


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(RACES))
def test_each_page_keeps_within_its_size(name: str) -> None:
    """Those of all race files that come along, each with its Run, the calm one and the guard."""
    page = page_of(name)
    assert len(encode(page)) <= BYTES_MAX
    assert page["calm"] >= 0
    assert all(each["run"] >= 0 for each in page["whatIf"])


def test_what_does_not_fit_is_shown_in_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """With less room the told Run comes first, then the calm one; the others are left out."""
    whole = page_of("crash_and_resync")
    monkeypatch.setattr("testbed.page.data.BYTES_MAX", 60_000)
    page = page_data(subject_of("crash_and_resync"))
    assert len(encode(page)) <= 60_000
    assert len(page["runs"]) < len(whole["runs"])
    assert page["runs"][0] == whole["runs"][0]
    assert page["whatIf"][-1]["run"] == -1
    for run in page["runs"]:
        there, all_of_it = AddedUp(), AddedUp()
        other = next(each for each in whole["runs"] if each["name"] == run["name"])
        for each, added in ((run, there), (other, all_of_it)):
            for row in each["moments"]:
                added.add(each, row)
        assert there.revisions == all_of_it.revisions


SAME = """
import hashlib, sys
from tests.page.told_pages import page_of
from testbed.objects.codec import encode_line
for name in sys.argv[1:]:
    print(hashlib.sha256(encode_line(page_of(name))).hexdigest())
"""


def test_a_page_is_the_same_in_another_process() -> None:
    """Byte for byte, whatever the hash seed, in the order of its fields too."""
    names = ["lost_update", "late_bind"]
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", SAME, *names],
            env=child_env(PYTHONHASHSEED=seed),
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    found = [each.communicate()[0] for each in begun]
    assert found[0] == found[1]
    assert found[0].count("\n") == len(names)


def test_an_attended_run_is_not_called_the_calm_run() -> None:
    """It has no line that could be left out, and is another Run than the calm one."""
    told = played("lost_update", Trust(None, ()))
    subject = PageSubject(told.recipe, told.race, told.trace, told.verdict, "again")
    calm = page_data(subject)["figures"]
    assert {"label": "it takes", "value": "no deviation: it is the calm run"} in calm
    verdict = attrs.evolve(told.verdict, attended=("a scheduler",))
    found = page_data(attrs.evolve(subject, verdict=verdict))["figures"]
    assert found == calm[1:]


def test_the_calm_run_of_a_scenario_is_its_own_calm_run() -> None:
    """It has no race file, and nothing to be turned."""
    run = played("lost_update", Trust())
    page = page_data(PageSubject(run.recipe, run.race, run.trace, run.verdict, run.replay))
    assert find("lost_update").name == page["title"]
    assert (page["outcome"], page["calm"], page["race"], page["whatIf"]) == ("held", 0, None, [])
    assert page["again"] == "testbed run lost_update"
    assert len(page["runs"]) == 1
