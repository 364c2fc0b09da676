"""The Trace: what a line says, the same bytes however it is made, and what may stand in it."""

from __future__ import annotations

import gc
import hashlib
import io
import json
import zlib
from collections.abc import Sequence
from typing import Any

import pytest

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import ScenarioError
from testbed.objects import Note
from testbed.turns.option import Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import FORMAT, Step, Trace
from testbed.version import VERSION
from testbed.world.scenario import find
from tests.each_row import each_row
from tests.shared.stage import world_of

LOTS = find("tests.shared.lots:drawing_lots")
LOST_UPDATE = find("lost_update")
FAULTS = {"faults": 2}


def played(seed: int, trace: Trace, *, driver: str = "direct") -> Trace:
    """A random Run with picks, records, time and faults."""
    LOTS.world(FAULTS).run(Uniform(seed), driver=driver, trace=trace)
    return trace


def lines_of(trace: Trace) -> list[dict[str, Any]]:
    """Its lines, decoded by another JSON library."""
    return [json.loads(line) for line in trace.lines()]


def calm() -> list[dict[str, Any]]:
    """The lines of the calm run of lost_update, without their sums."""
    trace = Trace({}, keep=True)
    LOST_UPDATE.world().run(Calm(), trace=trace)
    return [{word: line[word] for word in line if word != "sum"} for line in lines_of(trace)]


# -- what stands on a line ------------------------------------------------------------------------


def test_the_header_says_what_was_played_and_nothing_of_the_machine() -> None:
    """Format, testbed version, scenario and every switch: no host, time, path, Python or driver."""
    assert calm()[0] == {
        "format": FORMAT,
        "testbed": VERSION,
        "scenario": "lost_update",
        "switches": {"guard": "off", "writers": 2},
    }


def test_a_step_says_who_what_where_when_and_why() -> None:
    """A read, its answer and a write: each with task, verb, key, revision, time, choice, cause and
    exact footprint; what is empty is left out."""
    serve, answer, write = calm()[2:5]
    key = "notes/default/list"
    assert serve == {
        "n": 2, "at": 0, "do": "serve", "who": "alpha/main", "verb": "get", "key": key, "rv": "2",
        "choice": 0, "of": 2, "by": [1], "reads": [key],
    }  # fmt: skip
    assert answer == {
        "n": 3, "at": 0, "do": "answer", "who": "alpha/main", "verb": "get", "key": key,
        "choice": 0, "of": 2, "by": [2], "reads": ["endpoint:store"], "writes": ["mem:alpha"],
    }  # fmt: skip
    assert write == {
        "n": 4, "at": 0, "do": "serve", "who": "alpha/main", "verb": "update", "key": key,
        "rv": "3", "choice": 0, "of": 2, "by": [3],
        "reads": [key], "writes": ["log:notes.data.signed", key],
    }  # fmt: skip


def test_a_record_stands_behind_the_turn_that_wrote_it() -> None:
    """With its own number, its task, its name and its facts."""
    lines = calm()
    assert lines[5]["n"] == 5
    assert lines[6] == {"record": 1, "at": 0, "who": "alpha/main", "name": "signed", "facts": {}}


def test_the_last_line_says_how_it_ended() -> None:
    """Why, the verdict, what was violated, and how many turns there were."""
    assert calm()[-1] == {"end": "quiet", "verdict": "held", "violations": [], "turns": 10}


def test_a_refusal_a_second_time_and_a_later_hour_are_told() -> None:
    """The reason of a Conflict; `nth` from the second of a sentence on; virtual time."""

    async def act(client: Client) -> None:
        note = await client.create(Note("n"))
        await client.update(note.saying(a="1"))
        await client.sleep(40, "nap")
        try:
            await client.update(note.saying(a="2"))
        finally:
            client.record("tried")

    trace = Trace({}, keep=True)
    world_of(alpha=act).run(Calm(), trace=trace)
    updates = [line for line in lines_of(trace) if line.get("verb") == "update"]
    assert [line.get("nth", 1) for line in updates] == [1, 1, 2, 2]
    assert [line.get("refused") for line in updates] == [None, None, "Conflict", None]
    assert [line["at"] for line in updates] == [0, 0, 40, 40]


def test_a_write_names_the_record_it_follows_from() -> None:
    """`because` on its serve, and on no other line."""

    async def act(client: Client) -> None:
        why = client.record("thought")
        await client.create(Note("n"), because=why)
        await client.create(Note("m"))

    trace = Trace({}, keep=True)
    world_of(alpha=act).run(Calm(), trace=trace)
    lines = [line for line in lines_of(trace) if "because" in line]
    assert [(line["do"], line["key"], line["because"]) for line in lines] == [
        ("serve", "notes/default/n", 1)
    ]


def test_a_pick_is_told_by_its_label() -> None:
    """A pick is a line of its own: who, which label, which alternative, of how many."""
    lines = lines_of(played(1, Trace({}, keep=True)))
    picks = [line for line in lines if line.get("do") == "pick" and line["verb"] == "lot"]
    assert {line["label"] for line in picks} <= {"white", "black", "red"}
    assert all(line["label"] == ("white", "black", "red")[line["choice"]] for line in picks)
    assert {line["of"] for line in picks} == {3}


def test_a_fault_is_told_and_stands_behind_what_was_ready() -> None:
    """Its choice is counted from the number of ready Options on."""
    lines = [line for seed in range(20) for line in lines_of(played(seed, Trace({}, keep=True)))]
    faults = [line for line in lines if line.get("do") == "fault"]
    assert {line["who"] for line in faults} == {
        "fault/crash", "fault/lose_reply", "fault/break_watch", "fault/partition",
    }  # fmt: skip
    assert all(line["choice"] >= line["of"] for line in faults)
    others = [line for line in lines if line.get("do", "fault") != "fault"]
    assert all(line["choice"] < line["of"] for line in others)


def test_steps_are_numbered_and_caused_by_earlier_ones() -> None:
    """Numbers run from 1 without a gap, time never goes back, and every cause is before."""
    for seed in range(20):
        steps = [line for line in lines_of(played(seed, Trace({}, keep=True))) if "n" in line]
        assert [step["n"] for step in steps] == list(range(1, len(steps) + 1))
        assert [step["at"] for step in steps] == sorted(step["at"] for step in steps)
        assert all(cause < step["n"] for step in steps for cause in step["by"])


def test_every_line_ends_with_the_running_sum() -> None:
    """CRC-32 over the lines so far, each without its sum, worked out here once more."""
    total = 0
    for line in played(3, Trace({}, keep=True)).lines():
        content = json.loads(line)
        said = content.pop("sum")
        body = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
        total = zlib.crc32(body, total)
        assert said == f"{total:08x}"


# -- kept, streamed, unread -----------------------------------------------------------------------


@each_row("driver", ["trio", "direct"])
def test_a_kept_and_a_streamed_trace_are_the_same_bytes(driver: str) -> None:
    """Kept in memory, written line by line, or both at once: not a byte differs."""
    for seed in range(15):
        alone, beside = io.BytesIO(), io.BytesIO()
        kept = b"".join(played(seed, Trace({}, keep=True), driver=driver).lines())
        played(seed, Trace({}, sink=alone), driver=driver)
        both = played(seed, Trace({}, keep=True, sink=beside), driver=driver)
        assert alone.getvalue() == kept
        assert beside.getvalue() == kept
        assert b"".join(both.lines()) == kept
        assert both.bytes_written == len(kept)


def test_a_streamed_trace_is_written_turn_by_turn_and_not_kept() -> None:
    """What was found is written to the file before the next turn is chosen."""

    class Looks(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            lines = sink.getvalue().splitlines()
            last = json.loads(lines[-1])
            written.append((last.get("n", 0), len(trace.items)))
            return 0

    sink = io.BytesIO()
    trace = Trace({}, sink=sink)
    written: list[tuple[int, int]] = []
    LOST_UPDATE.world().run(Looks(), driver="direct", trace=trace)
    assert [n for n, _ in written if n] == [1, 2, 3, 4, 6, 7, 8, 9]
    assert {kept for _, kept in written} == {0}
    assert (trace.items, trace.steps) == ([], [])


def test_a_run_nobody_reads_makes_no_step() -> None:
    """Not one Step exists while it is played; its choices are kept all the same, and are those of
    the trace that somebody reads."""

    class Counts(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            alive.append(steps())
            return 0

    def steps() -> int:
        return sum(isinstance(thing, Step) for thing in gc.get_objects())

    alive: list[int] = []
    gc.collect()
    before = steps()
    unread, read = Trace({}), Trace({}, keep=True)
    LOST_UPDATE.world().run(Counts(), driver="direct", trace=unread)
    assert alive == [before] * 10
    assert (unread.items, unread.end) == ([], {**calm()[-1]})
    LOST_UPDATE.world().run(Calm(), driver="direct", trace=read)
    assert unread.choices == read.choices


def test_what_a_chooser_hears_is_not_collected() -> None:
    """A Chooser that asks for every Step gets it, and none piles up in a trace that is not read."""

    class Hears(Uniform):
        def ended(self, step: Step) -> None:
            heard.append(step.number)
            piled.append(len(trace.items))

    heard: list[int] = []
    piled: list[int] = []
    trace = Trace({})
    LOTS.world().run(Hears(1), driver="direct", trace=trace)
    assert sorted(heard) == list(range(1, len(heard) + 1))
    assert max(piled) < 10 < len(heard)
    assert trace.items == []


def test_the_digest_is_that_of_the_file() -> None:
    """SHA-256 over all lines."""
    sink = io.BytesIO()
    trace = played(2, Trace({}, keep=True, sink=sink))
    assert trace.digest() == hashlib.sha256(sink.getvalue()).hexdigest()


# -- facts ----------------------------------------------------------------------------------------


def test_a_fact_stays_as_it_was_recorded() -> None:
    """A list that grows later has not grown in the record: kept and streamed say the same."""

    async def act(client: Client) -> None:
        names = ["n1"]
        client.record("chose", names=names, more={"all": names})
        names.append("n2")
        await client.sleep(1, "nap")
        names.append("n3")

    kept, sink = Trace({}, keep=True), io.BytesIO()
    world_of(alpha=act).run(Calm(), trace=kept)
    world_of(alpha=act).run(Calm(), trace=Trace({}, sink=sink))
    facts = [line["facts"] for line in lines_of(kept) if "record" in line]
    assert facts == [{"names": ["n1"], "more": {"all": ["n1"]}}]
    assert b"".join(kept.lines()) == sink.getvalue()


def test_a_set_among_the_facts_is_sorted() -> None:
    """Nothing decides the order of a set, so it does not reach a trace."""

    async def act(client: Client) -> None:
        client.record("chose", names={f"n{number}" for number in range(9)})

    trace = Trace({}, keep=True)
    world_of(alpha=act).run(Calm(), trace=trace)
    (record,) = (line for line in lines_of(trace) if "record" in line)
    assert record["facts"]["names"] == [f"n{number}" for number in range(9)]


@each_row("fact", [object(), "\ud800", {1: {2: lambda: 0}}])
def test_a_fact_that_cannot_stand_in_a_trace_is_refused(fact: object) -> None:
    """At once, with the task and the record; also if the trace is not read."""

    async def act(client: Client) -> None:
        client.record("chose", what=fact)

    with pytest.raises(ScenarioError, match=r"alpha/main records 'chose'.*\nNext: record strings"):
        world_of(alpha=act).run(Calm())


# -- choices alone --------------------------------------------------------------------------------


class Following(Chooser):
    """Takes these indices, one after another."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        self.left = list(reversed(choices))

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("following")

    def choose(self, options: Options | Alternatives) -> Choice:
        return self.left.pop()


def test_the_choices_alone_make_the_same_trace() -> None:
    """Nothing but a list of numbers is needed to play a Run again, under either driver."""
    for seed in range(25):
        trace = played(seed, Trace({}, keep=True))
        assert trace.choices == [line["choice"] for line in lines_of(trace) if "choice" in line]
        for driver in ("trio", "direct"):
            again = Trace({}, keep=True)
            chooser = Following(trace.choices)
            LOTS.world(FAULTS).run(chooser, driver=driver, trace=again)
            assert list(again.lines()) == list(trace.lines())
            assert chooser.left == []
