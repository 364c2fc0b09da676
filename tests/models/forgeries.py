"""Forgeries: each way to tamper with a certificate that we could think of, so that no sum tells.

A kind yields one forgery after another of a certificate. All of them have counts, numbers, sums,
verdicts and limits that agree, unless that is what the kind changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tests.models.forged import Data, Forged

Forging = Callable[[Forged], Iterator[Forged]]
KINDS: dict[str, Forging] = {}
"""By the words with which docs/search.md calls them."""


def kind(words: str) -> Callable[[Forging], Forging]:
    """One kind of forgery, by its words."""

    def keep(forging: Forging) -> Forging:
        KINDS[words] = forging
        return forging

    return keep


def each_class(true: Forged) -> Iterator[tuple[Forged, Data]]:
    """A copy for each class, and that class in it."""
    for at in range(len(true.classes)):
        other = true.copy()
        yield other, other.classes[at]


def each_step(true: Forged) -> Iterator[tuple[Forged, list[Data]]]:
    """A copy for each step of the file, and every turn in it that is this step."""
    steps: list[Data] = []
    for each in true.classes:
        for turn in each["turns"]:
            said = {k: v for k, v in turn.items() if k not in ("place", "causes")}
            if said not in steps:
                steps.append(said)
    for said in steps:
        other = true.copy()
        turns = [turn for each in other.classes for turn in each["turns"]]
        yield other, [turn for turn in turns if {**turn, **said} == turn]


def without_turn(each: Data, at: int) -> None:
    """Take one turn out of a class; what it had caused comes of nothing."""
    del each["turns"][at], each["offers"][at]
    for turn in each["turns"]:
        turn["causes"] = [k - (k > at) for k in turn["causes"] if k != at]


@kind("a class is missing")
def _drop_a_class(true: Forged) -> Iterator[Forged]:
    for at in range(len(true.classes)):
        other = true.copy()
        del other.classes[at]
        yield other.judged()


@kind("a class stands twice")
def _twice(true: Forged) -> Iterator[Forged]:
    other = true.copy()
    other.classes.append(other.copy().classes[0])
    yield other.judged()


@kind("a class lacks its last turn")
def _drop_the_last_turn(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        if not each["turns"]:
            continue
        without_turn(each, len(each["turns"]) - 1)
        yield other.judged()


@kind("every class lacks its last turn")
def _drop_all_last_turns(true: Forged) -> Iterator[Forged]:
    other = true.copy()
    for each in other.classes:
        without_turn(each, len(each["turns"]) - 1)
    yield other.judged()


@kind("a class lacks a turn in its middle")
def _drop_a_turn(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        without_turn(each, len(each["turns"]) // 2)
        yield other.judged()


@kind("a turn stands elsewhere")
def _move_a_turn(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        each["turns"].insert(0, each["turns"].pop())
        yield other


@kind("a footprint is empty")
def _empty_a_footprint(true: Forged) -> Iterator[Forged]:
    for other, turns in each_step(true):
        for turn in turns:
            turn["reads"], turn["writes"], turn["late"] = [], [], [[], []]
        yield other


@kind("all footprints are empty")
def _empty_all_footprints(true: Forged) -> Iterator[Forged]:
    other = true.copy()
    for each in other.classes:
        for turn in each["turns"]:
            turn["reads"], turn["writes"], turn["late"] = [], [], [[], []]
    yield other


@kind("a read is missing")
def _drop_a_read(true: Forged) -> Iterator[Forged]:
    for other, turns in each_step(true):
        if turns[0]["reads"]:
            for turn in turns:
                turn["reads"] = turn["reads"][1:]
            yield other


@kind("a write is missing")
def _drop_a_write(true: Forged) -> Iterator[Forged]:
    for other, turns in each_step(true):
        for turn in turns:
            turn["writes"] = turn["writes"][:-1]
        yield other


@kind("a write is too many")
def _add_a_write(true: Forged) -> Iterator[Forged]:
    for other, turns in each_step(true):
        for turn in turns:
            turn["writes"] = sorted([*turn["writes"], "notes/default/other"])
        yield other


@kind("what was known later was known at once")
def _no_late(true: Forged) -> Iterator[Forged]:
    for other, turns in each_step(true):
        if turns[0]["late"] != [[], []]:
            for turn in turns:
                turn["writes"] = sorted([*turn["writes"], *turn["late"][1]])
                turn["reads"] = sorted([*turn["reads"], *turn["late"][0]])
                turn["late"] = [[], []]
            yield other


@kind("a turn has another cause")
def _change_causes(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        turn = next(turn for turn in reversed(each["turns"]) if turn["causes"])
        turn["causes"] = [k - 1 for k in turn["causes"] if k]
        yield other


@kind("turns have no causes")
def _drop_causes(true: Forged) -> Iterator[Forged]:
    other = true.copy()
    for each in other.classes:
        for turn in each["turns"]:
            turn["causes"] = []
    yield other


@kind("a turn is at another time")
def _change_time(true: Forged) -> Iterator[Forged]:
    for other, turns in each_step(true):
        for turn in turns:
            turn["at"] += 5
        yield other


@kind("another of those offered was taken")
def _change_place(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        each["turns"][-1]["place"] += 1
        yield other


@kind("something ready is not offered")
def _drop_an_offer(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        found = next(
            (
                (offer, ready, turn)
                for offer, turn in zip(each["offers"], each["turns"], strict=False)
                for ready in offer["ready"]
                if ready != turn["is"]
            ),
            None,
        )
        if found is not None:
            offer, ready, turn = found
            offer["ready"].remove(ready)
            if turn["is"][0] != "fault":
                turn["place"] = offer["ready"].index(turn["is"])
            yield other


@kind("a fault struck in another way")
def _another_way(true: Forged) -> Iterator[Forged]:
    struck = [t["is"] for each in true.classes for t in each["turns"] if t["is"][0] == "fault"]
    for said in [one for at, one in enumerate(struck) if one not in struck[:at]]:
        other = true.copy()
        for each in other.classes:
            offered = [fault for offer in each["offers"] for fault in offer["faults"]]
            for option in (*offered, *(turn["is"] for turn in each["turns"])):
                if option == said:
                    option[-1] = "harder"
        yield other


@kind("something ready is offered nowhere")
def _drop_an_option(true: Forged) -> Iterator[Forged]:
    every = [r for each in true.classes for offer in each["offers"] for r in offer["ready"]]
    for gone in [one for at, one in enumerate(every) if one not in every[:at]]:
        other = true.copy()
        for each in other.classes:
            for offer, turn in zip(each["offers"], [*each["turns"], None], strict=False):
                if turn is not None and turn["is"] == gone:
                    break
                if gone in offer["ready"]:
                    at = offer["ready"].index(gone)
                    offer["ready"].remove(gone)
                    if turn is not None and turn["place"] > at:
                        turn["place"] -= 1
        if other.classes != true.classes:
            yield other


@kind("something is offered that is not ready")
def _add_an_offer(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        each["offers"][-1]["ready"].append(["serve", "z/main", "get", "notes/default/z", "", 1])
        yield other


@kind("a fault could not strike")
def _drop_a_fault(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        offer = next((offer for offer in reversed(each["offers"]) if offer["faults"]), None)
        if offer is not None:
            del offer["faults"][-1]
            yield other


@kind("no fault could strike")
def _drop_all_faults(true: Forged) -> Iterator[Forged]:
    other = true.copy()
    for each in other.classes:
        for offer in each["offers"]:
            offer["faults"] = []
    other.classes = [
        each for each in other.classes if all(t["is"][0] != "fault" for t in each["turns"])
    ]
    if other.classes != true.classes:
        yield other.judged()


@kind("it was due at another time")
def _change_due(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        each["offers"][0]["due"] = 5
        yield other


@kind("a class was judged otherwise")
def _change_outcome(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        claim = other.header["claims"][0][0]
        each["broken"] = [] if each["broken"] else [[claim, "it is broken"]]
        yield other.judged()


@kind("all classes hold")
def _hold_all(true: Forged) -> Iterator[Forged]:
    other = true.copy()
    for each in other.classes:
        each["broken"] = []
    if other.classes != true.classes:
        yield other.judged()


@kind("what was said of a claim")
def _change_said(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        if each["broken"]:
            each["broken"][0][1] += ", they say"
            yield other


@kind("another claim broke")
def _change_claim(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        if each["broken"]:
            each["broken"][0][0] = other.header["claims"][0][0]
            yield other


@kind("a class ended otherwise")
def _change_end(true: Forged) -> Iterator[Forged]:
    for other, each in each_class(true):
        if each["end"] in ("quiet", "stuck"):
            each["end"] = "stuck" if each["end"] == "quiet" else "quiet"
            yield other


@kind("a verdict that does not follow")
def _change_verdict(true: Forged) -> Iterator[Forged]:
    said = true.header["verdict"]
    for verdict in ("held", "violated", "undecided", "held up to turns_max", f"{said} too", ""):
        other = true.copy()
        other.header["verdict"] = verdict
        if verdict != said:
            yield other
    for verdict in ("held", "violated", "undecided"):
        for other, each in each_class(true):
            if each["verdict"] != verdict:
                each["verdict"] = verdict
                yield other


@kind("a limit is not told")
def _hide_limits(true: Forged) -> Iterator[Forged]:
    if all(each["end"] in ("quiet", "stuck") for each in true.classes):
        return
    yield true.copy()
    for end in ("quiet", "stuck", "held", ""):
        other = true.copy()
        for each in other.classes:
            if each["end"] not in ("quiet", "stuck"):
                each["end"] = end
                each["offers"].append({"ready": [], "faults": [], "due": 0})
        yield other.judged()
    other = true.copy()
    other.classes = [each for each in other.classes if each["end"] in ("quiet", "stuck")]
    if other.classes:
        yield other.judged()


@kind("a limit was exceeded")
def _lower_a_limit(true: Forged) -> Iterator[Forged]:
    times = [[turn["at"] for turn in each["turns"]] for each in true.classes]
    reached = {
        "turns_max": max(len(each) for each in times),
        "instant_turns_max": max(max(Counter(each).values(), default=0) for each in times),
        "virtual_ms_max": max(max(each, default=0) for each in times),
    }
    for name, most in reached.items():
        if most:
            other = true.copy()
            other.header["budget"][name] = most - 1
            yield other


def _header(name: str, *others: Any) -> Forging:
    def forge(true: Forged) -> Iterator[Forged]:
        for change in others:
            other = true.copy()
            said = change(other.header[name]) if callable(change) else change
            if said != other.header[name]:
                other.header[name] = said
                yield other

    return forge


HEADER: dict[str, Forging] = {
    "faults_max": _header("faults_max", lambda n: n + 1, lambda n: max(n - 1, 0), 99),
    "scenario": _header("scenario", "starvation", "small2", ""),
    "switches": _header("switches", {}, {"guard": "on"}, {"writers": 3}),
    "in_force": _header("in_force", {"scheduler.queue": "fifo"}),
    "added": _header("added", ["crash"], ["lag:a"]),
    "allows_none": _header("allows_none", lambda said: not said),
    "allowed": _header("allowed", [], lambda said: [*said, ["crash", 1]]),
    "budget": _header("budget", {}, lambda said: {**said, "turns_max": 7}),
    "claims": _header("claims", [], lambda said: said[1:], lambda said: [*said, ["mine", ""]]),
    "sources": _header("sources", {}, lambda said: {**said, "testbed": "0" * 64}),
    "testbed": _header("testbed", "0.0.1"),
    "tested": _header("tested", lambda said: {**said, "orders": said["orders"] + 1_000}),
    "classes": _header("classes", 0, lambda n: n + 1, lambda n: n - 1),
    "format": _header("format", "testbed-certificate/2", "testbed-certificate/4", "", "trace"),
}
for _name, _forging in HEADER.items():
    KINDS[f"the header's {_name}"] = _forging


@kind("picks were other ones")
def _change_picks(true: Forged) -> Iterator[Forged]:
    for other, turns in each_step(true):
        if turns[0]["picks"]:
            for turn in turns:
                label, value, at, of = turn["picks"][0]
                turn["picks"][0] = [label, f"{value}r", at, of]
            yield other
    for other, turns in each_step(true):
        if turns[0]["picks"]:
            for turn in turns:
                turn["picks"][0][3] += 1
            yield other


@kind("there was only one alternative")
def _drop_an_alternative(true: Forged) -> Iterator[Forged]:
    other = true.copy()
    for each in other.classes:
        for turn in each["turns"]:
            if any(pick[2] for pick in turn["picks"]):
                each["end"] = "gone"
            turn["picks"] = [[label, value, at, 1] for label, value, at, _ in turn["picks"]]
    other.classes = [each for each in other.classes if each["end"] != "gone"]
    if len(other.classes) < len(true.classes):
        yield other.judged()


@kind("nothing was picked")
def _drop_picks(true: Forged) -> Iterator[Forged]:
    for other, turns in each_step(true):
        if turns[0]["picks"]:
            for turn in turns:
                turn["picks"] = []
            yield other
