"""Classes that `complete` once missed, each in the smallest World that shows it."""

from __future__ import annotations

import attrs
import pytest

from testbed.choosers.complete import Complete
from testbed.errors import ScenarioError
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.partition import Partition
from testbed.faults.restart import Restart
from testbed.faults.stall import Stall
from testbed.world.scenario import play_runs
from tests.models.worlds.comparing import LONG, compare
from tests.models.worlds.doing import Action
from tests.models.worlds.drawn_claims import Claimed
from tests.models.worlds.drawn_world import Drawn, Program

GET: Action = ("get", {})
SHORT_RUNS = {"turns_max": 8}


def does(*actions: Action, apart: bool = False) -> Program:
    """An actor that does these one after the other."""
    return Program(actions, apart)


AT_A_LIMIT = {
    "the fault would be the last turn but one": Drawn(
        (does(("list", {}), ("open", {}), ("hear", {})), does(("update", {}))),
        faults=(Partition("*", for_ms=20),), limits=SHORT_RUNS,
    ),
    "the actor begins again": Drawn(
        (does(("ask", {"endpoint": "ledger"})), does(GET, GET)),
        endpoints=("ledger",), faults=(Restart("*"),), limits=SHORT_RUNS,
    ),
    "the fault needs a commit that comes last but for another turn": Drawn(
        (
            does(("ask", {"endpoint": "diary"}), ("ask", {"endpoint": "pocket", "verb": "write"})),
            does(GET, GET),
        ),
        endpoints=("diary", "pocket"), faults=(Compact("b"),), limits=SHORT_RUNS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("drawn", AT_A_LIMIT.values(), ids=AT_A_LIMIT)
def test_a_fault_at_rest_is_a_turn_like_others(drawn: Drawn) -> None:
    """Where `turns_max` turns were played, no fault strikes at rest, since none would have had room
    before: how long a Run may be does not depend on when the fault strikes. What that hides is
    tried in other orders, and said."""
    compared = compare(drawn, LONG)
    assert (compared.difference, compared.is_whole) == ("", True)
    search = Complete()
    play_runs(drawn.scenario(), search, lambda _: True, runs_max=1000, driver="direct")
    assert search.is_complete
    assert search.summary.startswith("complete up to turns_max: ")


def test_a_limit_that_lets_no_fault_strike_is_said() -> None:
    """Each Run is at rest after just as many turns as there may be, so none was cut short. But a
    fault could have struck there; so there is nothing to certify."""
    drawn = Drawn((does(GET),), faults=(Compact("*"),), things=(("note", "x"),))
    for turns, said in ((3, "complete up to turns_max: "), (4, "complete: ")):
        search = Complete()
        limited = attrs.evolve(drawn, limits={"turns_max": turns})
        play_runs(limited.scenario(), search, lambda _: True, runs_max=100, driver="direct")
        assert search.summary.startswith(said)
        if turns == 3:
            with pytest.raises(ScenarioError, match="raise turns_max"):
                search.certificate("nowhere", {})


SUCCEEDED = {
    "a timer of the same name": Drawn(
        (does(("list", {"timeout": 3}), ("list", {"timeout": 3})),),
        latencies=({"what": "* notes", "actor": "*", "at": "*", "serve_ms": 3},),
    ),
    "a pause that was over already when a commit ended it": Drawn(
        tuple(does(("ask", {"endpoint": "ledger", "verb": "behind"})) for _ in range(2)),
        endpoints=("ledger",),
    ),
}


@pytest.mark.parametrize("drawn", SUCCEEDED.values(), ids=SUCCEEDED)
def test_what_is_withdrawn_may_have_a_successor(drawn: Drawn) -> None:
    """What was ready and is withdrawn might have happened first, also if something of the same name
    is ready at once."""
    compared = compare(drawn, LONG)
    assert (compared.difference, compared.is_whole) == ("", True)


def test_requests_of_three_lives_keep_their_names() -> None:
    """An actor crashes twice, and all three of its lives have asked for the same: which of the
    requests is which does not change when one of them is served."""
    asks = does(("ask", {"endpoint": "diary", "verb": "behind"}))
    crash = Crash("b", times_max=2, until_ms=30, restart_after_ms=5)
    compared = compare(Drawn((does(), asks), endpoints=("diary",), faults=(crash,)), LONG)
    assert (compared.difference, compared.is_whole) == ("", True)


def test_a_fault_is_possible_by_the_time_that_another_turn_lets_pass() -> None:
    """After a stall of 5 ms one of two tasks goes on, and then the next stall strikes: that it was
    first offered after the one does not say that the other cannot come before it."""
    drawn = Drawn(
        (does(("spawn", {"actions": (GET,)}), ("spawn", {"actions": ()}), apart=True),),
        faults=(Stall("*", by_ms=20), Stall("a", until_ms=5, by_ms=3)),
    )  # fmt: skip
    compared = compare(drawn, LONG)
    assert (compared.difference, compared.is_whole) == ("", True)


NEWER = {"maker": "listener", "look": "which_is_newer", "declares": True}


@pytest.mark.parametrize("occasion", ["record", "served", "delivery", "death", "commit", "turn"])
def test_a_claim_sees_what_it_reads_when_it_looks(occasion: str) -> None:
    """A claim that reads commits, and looks at something else, sees as many of them as came before.
    So each turn at which it looks is in order with them."""
    claim = Claimed(**NEWER, given={"occasion": occasion})  # type: ignore[arg-type]
    drawn = Drawn(
        (does(("update", {}), ("die", {})), does(("delete", {}))),
        things=(("note", "x"),), claims=(claim,),
    )  # fmt: skip
    assert not compare(drawn, LONG).difference


HEARD_TWICE: tuple[Action, ...] = (("hear", {}), ("hear", {}))
BOOKMARKED = {
    "of what it does not select": Drawn(
        (
            does(("list", {}), ("open", {"bookmarks": True, "selector": "x"}), *HEARD_TWICE),
            does(("update", {"name": "x"})),
            does(("create", {"name": "y"})),
        ),
        things=(("note", "x"),),
    ),
    "of fields that it does not declare": Drawn(
        (
            does(
                ("list", {"fields": ("meta.labels",)}),
                ("open", {"bookmarks": True, "fields": ("meta.labels",)}),
                ("hear", {}),
            ),
            does(("update", {"name": "x"})),
        ),
        things=(("note", "x"),),
    ),
    "from the present on": Drawn(
        (
            does(
                ("open", {"bookmarks": True, "since": "", "fields": ("meta.labels",)}), ("hear", {})
            ),
            does(("update", {"name": "x"})),
        ),
        things=(("note", "x"),),
    ),
}


@pytest.mark.parametrize("drawn", BOOKMARKED.values(), ids=BOOKMARKED)
def test_who_hears_bookmarks_hears_of_what_it_is_not_shown(drawn: Drawn) -> None:
    """Whether one comes depends on the order of what a watch shows and of what it does not."""
    compared = compare(drawn, LONG)
    assert (compared.difference, compared.excused) == ("", 0)


def test_a_cache_is_excused_its_bookmarks_and_nothing_else() -> None:
    """A Cache that declares fields may be owed a bookmark in one order and not in another of the
    same class; nothing else may differ."""
    cached = does(("cache", {"reads": ("meta.labels",)}))
    swapped = does(("swap", {}))
    drawn = Drawn((cached, swapped), things=(("note", "x"),))
    compared = compare(drawn, LONG)
    assert not compared.difference
    assert compared.excused
    for others in ((does(("cache", {})), swapped), (does(("list", {})), swapped)):
        assert not compare(attrs.evolve(drawn, programs=others), LONG).excused


def test_a_delivery_says_how_much_of_a_transaction_its_server_has_read_by_then() -> None:
    """It ends at the revision before while a part of its transaction is unread. That is told when
    it is delivered: two who watch differ in when they begin to wait, and not in what they get."""
    cache = ("cache", {"quorum": False, "waits": False, "selector": "all", "reads": ()})
    drawn = Drawn(
        (does(cache), does(("txn", {"names": ("y", "x"), "over": "last"}))),
        server="lagging", things=(("note", "x"),),
    )  # fmt: skip
    assert not compare(drawn, LONG).difference
