"""The Portfolio: who plays which Run; a function of what earlier rounds have shown, and fair."""

from __future__ import annotations

from collections import Counter

from testbed.search.bounds import Bounds
from testbed.search.planned_run import Outcome, PlannedRun
from testbed.search.portfolio import ARMS, BOUNDED, NEW_FINDING, NEW_WAY, ROUND, WHOLE, Portfolio


def outcomes(batch: list[PlannedRun]) -> list[Outcome]:
    """What came of them: nothing to speak of."""
    return [
        Outcome(planned.run, planned.chooser, "held", "quiet", children=[]) for planned in batch
    ]


def played(portfolio: Portfolio, rounds: int, earns: dict[str, int]) -> Counter[str]:
    """So many rounds in which each Run of a chooser earns that much; who has played the last."""
    batch: list[PlannedRun] = []
    for _ in range(rounds):
        batch = portfolio.round()
        portfolio.learn(
            outcomes(batch), {planned.run: earns.get(planned.chooser, 0) for planned in batch}
        )
    return Counter(planned.chooser for planned in batch)


def test_all_have_even_shares_at_first_and_take_turns() -> None:
    """No chooser has all of its Runs at the end of a round."""
    batch = Portfolio().round()
    assert [planned.run for planned in batch] == list(range(ROUND))
    assert [planned.chooser for planned in batch[:5]] == list(ARMS)
    assert [planned.chooser for planned in batch[5:10]] == list(ARMS)


def test_who_finds_has_more_turns_and_nobody_has_none() -> None:
    """However long one wins: half of an even share is left to each other."""
    portfolio = Portfolio()
    last = played(portfolio, 30, {"pos": NEW_FINDING})
    shares = {arm.name: arm.share for arm in portfolio.arms}
    assert max(shares, key=lambda name: shares[name]) == "pos"
    assert shares["pos"] > WHOLE * 55 // 100
    assert all(share >= WHOLE // 10 for share in shares.values())
    assert set(last) == set(ARMS)
    for name, share in shares.items():
        assert abs(last[name] - ROUND * share / WHOLE) < 2


def test_a_finding_is_worth_more_than_a_way() -> None:
    """Of two that earn, who earns more has more."""
    portfolio = Portfolio()
    played(portfolio, 4, {"pct": NEW_WAY, "urw": NEW_FINDING})
    shares = {arm.name: arm.share for arm in portfolio.arms}
    assert shares["urw"] > shares["pct"] > shares["pos"] == shares["surw"]


def test_old_merits_fade_when_nobody_earns() -> None:
    """What found the last race may not find the next."""
    portfolio = Portfolio()
    played(portfolio, 10, {"surw": NEW_FINDING})
    before = portfolio.arms[3].share
    played(portfolio, 30, {})
    after = [arm.percent for arm in portfolio.arms]
    assert before > WHOLE // 2
    assert after == [20] * 5


def test_who_has_long_found_nothing_may_still_win() -> None:
    """No weight falls so low that no merit raises it again."""
    portfolio = Portfolio()
    played(portfolio, 60, {"pct": NEW_FINDING})
    played(portfolio, 12, {"surw": NEW_FINDING})
    shares = {arm.name: arm.share for arm in portfolio.arms}
    assert shares["surw"] == max(shares.values())


def test_the_bounded_search_has_its_turn_early() -> None:
    """First the calm run alone, which all other plans go on from; then half of each round."""
    portfolio = Portfolio(planner=Bounds(faults_max=0, deviations_max=1))
    (calm,) = portfolio.round()
    assert (calm.run, calm.chooser, calm.plan["plan"][0]) == (0, BOUNDED, [])
    children = [[[[place, "hold", 0]], 0, 1, False] for place in range(20)]
    portfolio.learn([Outcome(0, BOUNDED, "held", "quiet", children=children)], {})
    batch = portfolio.round()
    assert [planned.chooser for planned in batch[: ROUND // 2]] == [BOUNDED] * (ROUND // 2)
    assert BOUNDED not in {planned.chooser for planned in batch[ROUND // 2 :]}
    assert [planned.run for planned in batch] == list(range(1, ROUND + 1))
    portfolio.learn(outcomes(batch), {})
    batch = portfolio.round()
    assert [planned.chooser for planned in batch].count(BOUNDED) == 20 - ROUND // 2
    portfolio.learn(outcomes(batch), {})
    assert portfolio.planner is not None
    assert portfolio.planner.is_complete


def test_without_anybody_else_the_plans_are_all() -> None:
    """When they are played there is no round left."""
    portfolio = Portfolio([], Bounds(faults_max=0, deviations_max=1))
    portfolio.learn(outcomes(portfolio.round()), {})
    assert portfolio.round() == []
