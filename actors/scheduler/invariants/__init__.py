"""Invariants: claims about the cycles, the beliefs and the writes of a scheduler.

Each works out again what the rules allow, from the records or with the plain twin in `reference/`;
none asks the scheduler's own code. A claim about a cycle judges it by what the scheduler knew: that
its news was old is not its fault (SCH-123).

May use: switches, decisions, memory, rescheduling, reference.
In order: cycles; then siblings, rescheduled.
"""

from __future__ import annotations

from actors.scheduler.invariants.accounts import AccountsAreBalanced
from actors.scheduler.invariants.budgets import BudgetsAreCounted
from actors.scheduler.invariants.cheapest_node import RoomIsMadeWhereItCostsLeast
from actors.scheduler.invariants.cycles import Cycles
from actors.scheduler.invariants.fits_beside_nominated import PodsGoWhereTheyFit
from actors.scheduler.invariants.given_up import was_given_up
from actors.scheduler.invariants.left_over import NoNominationIsLeftOver
from actors.scheduler.invariants.lower_victims import VictimsAreLessImportant
from actors.scheduler.invariants.most_important_first import TheMostImportantIsTriedFirst
from actors.scheduler.invariants.no_lost_pod import NoPodIsLost
from actors.scheduler.invariants.no_missed_event import NobodyWaitsInVain
from actors.scheduler.invariants.no_pointless_preemption import NoPreemptionIsPointless
from actors.scheduler.invariants.no_repeat_preemption import WhoWaitsDoesNotPreempt
from actors.scheduler.invariants.nominations import NominationsAreKept
from actors.scheduler.invariants.own_node_only import OnlyItsOwnNodeIsCleared
from actors.scheduler.invariants.progress.gains import EachPreemptionIsAGain
from actors.scheduler.invariants.progress.in_time import WhoHasRoomIsPlacedInTime
from actors.scheduler.invariants.progress.made_again import RoomIsMadeAgainOnlyIfLost
from actors.scheduler.invariants.progress.ping_pong import NoPingPong
from actors.scheduler.invariants.progress.promises import Promises
from actors.scheduler.invariants.rescheduled import rescheduler_claims
from actors.scheduler.invariants.restarts import RestartsForgetNoPod
from actors.scheduler.invariants.writes_follow_decisions import DeedsAreDecided
from testbed import Invariant

__all__ = [
    "AccountsAreBalanced",
    "BudgetsAreCounted",
    "DeedsAreDecided",
    "EachPreemptionIsAGain",
    "NoNominationIsLeftOver",
    "NoPingPong",
    "NoPodIsLost",
    "NoPreemptionIsPointless",
    "NobodyWaitsInVain",
    "NominationsAreKept",
    "OnlyItsOwnNodeIsCleared",
    "PodsGoWhereTheyFit",
    "RestartsForgetNoPod",
    "RoomIsMadeAgainOnlyIfLost",
    "RoomIsMadeWhereItCostsLeast",
    "TheMostImportantIsTriedFirst",
    "VictimsAreLessImportant",
    "WhoHasRoomIsPlacedInTime",
    "WhoWaitsDoesNotPreempt",
    "rescheduler_claims",
    "scheduler_claims",
    "was_given_up",
]


def scheduler_claims() -> tuple[Invariant, ...]:
    """All claims about schedulers: `world.claim(*scheduler_claims())`.

    Where the switch `nominated_accounting` is none, room may be stolen, and
    `pods_go_where_they_fit` is violated when it is.
    """
    cycles = Cycles()
    promises = Promises(cycles)
    return (
        VictimsAreLessImportant(cycles), NoPreemptionIsPointless(cycles),
        RoomIsMadeWhereItCostsLeast(cycles), WhoWaitsDoesNotPreempt(cycles),
        NominationsAreKept(cycles), PodsGoWhereTheyFit(cycles), NoPodIsLost(),
        AccountsAreBalanced(), BudgetsAreCounted(cycles), OnlyItsOwnNodeIsCleared(cycles),
        TheMostImportantIsTriedFirst(cycles), DeedsAreDecided(cycles), NobodyWaitsInVain(cycles),
        NoNominationIsLeftOver(cycles), RestartsForgetNoPod(cycles), NoPingPong(),
        EachPreemptionIsAGain(), RoomIsMadeAgainOnlyIfLost(promises),
        WhoHasRoomIsPlacedInTime(promises),
    )  # fmt: skip
