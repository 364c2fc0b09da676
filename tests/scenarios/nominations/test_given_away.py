"""given_away: without a nomination the room is given away, for ever; with it, it is kept."""

from __future__ import annotations

import pytest

from actors.shared.who_comes_again import who_comes_again
from scenarios.nominations.given_away import half_by_half
from testbed import World, no_lasso
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.world.scenario import find, of

RECIPE = find("given_away")


@pytest.mark.spec("CTL-52")
def test_room_is_made_again_and_again() -> None:
    """As each half of it is given to the pod that was created in place of the victim."""
    world = RECIPE.world({"guard": "off"})
    verdict = world.run(Calm(), driver="direct")
    (violation,) = verdict.violations
    assert violation.said == "room was made for pods/default/urgent 2 times"
    bound = [r.facts["pod"].partition("-")[0] for r in world.table.records if r.name == "bound"]
    assert bound == [f"pods/default/{name}" for name in ("quick", "slow") * 2]


@pytest.mark.spec("CTL-52")
def test_a_comparison_of_it_comes_to_an_end() -> None:
    """It goes on after the Violation, for as many laps as there are in ten minutes."""
    world = RECIPE.world({"guard": "off"})
    world.goes_on = True
    verdict = world.run(Calm(), driver="direct")
    made = [record for record in world.table.records if record.name == "makes room"]
    assert verdict.end.startswith("virtual_ms_max: ")
    assert (len(made), verdict.turns < 10_000) == (60, True)


@pytest.mark.long
@pytest.mark.spec("CTL-52", "INV-20")
def test_it_is_proved_that_this_never_ends() -> None:
    """A lap that is played again and again leads to the same state each time."""

    def for_ever(world: World) -> None:
        half_by_half(world, nominates=False)
        world.claim(no_lasso(abstraction=who_comes_again, named_anew=["pods"]))

    verdict = of(for_ever, "for_ever").world().run(Calm(), driver="direct")
    (proved,) = verdict.violations
    assert proved.said.startswith("for ever, a lap of 66 writes in 30,000 ms, played 3 more")


@pytest.mark.spec("CTL-51", "CTL-52")
def test_with_a_nomination_the_urgent_pod_gets_its_room() -> None:
    """Whatever the order of things; and both victims die once."""
    for chooser in (Calm(), *map(Uniform, range(6))):
        world = RECIPE.world({"guard": "on"})
        verdict = world.run(chooser, driver="direct")
        assert verdict.is_held, str(verdict)
        made = [record for record in world.table.records if record.name == "makes room"]
        assert len(made) == 1


@pytest.mark.spec("CTL-53")
def test_a_taint_does_not_help_a_pod_that_does_not_tolerate_it() -> None:
    """The old way out is for pods that were made for it."""
    given = {"guard": "off", "scheduler.rescheduler_taints": "on"}
    verdict = RECIPE.world(given).run(Calm(), driver="direct")
    assert [each.invariant for each in verdict.violations] == ["room_is_made_once"]


@pytest.mark.spec("CTL-51", "CTL-52")
def test_what_was_on_its_way_before_the_nomination_is_no_breach() -> None:
    """A delete that takes three seconds lets the other half be given away before the nomination is
    written, a bind that takes ten comes after it, and a scheduler chooses a place in the instant of
    the nomination, before it has heard of it. None says anything of nominations."""
    for hold in (
        "  - hold: rescheduler delete pods/default/slow-2th4z\n"
        "    until: default-scheduler bind pods/default/quick-l4685\n",
        "  - hold: default-scheduler bind pods/default/quick-8r8wz\n"
        "    until: rescheduler patch pods/default/urgent/status\n",
        "  - hold: replicasets update replicasets/default/quick/status\n"
        "    until: ann create pods/default/urgent\n"
        "  - hold: replicasets update replicasets/default/slow/status\n"
        "    until: rescheduler delete pods/default/quick-8r8wz\n"
        "  - hold: delivery of pods/default/slow-2th4z to default-scheduler\n"
        "    until: turn of replicasets/main#5\n"
        "  - hold: delivery of pods/default/urgent#3 to default-scheduler\n"
        "    until: start of default-scheduler/bind-slow-2th4z\n",
    ):
        race = parse(f"scenario: given_away\nswitches: {{guard: on}}\nholds:\n{hold}", "late")
        played = play(race, RECIPE)
        made = [r for r in played.world.table.records if r.name == "makes room"]
        assert (len(made), played.verdict.outcome) == (2, "held")
        assert all(fate.took_place for fate in played.fates)


@pytest.mark.spec("CTL-52")
@pytest.mark.parametrize(
    "refused", ["patch pods/default/urgent/status", "delete pods/default/slow-2th4z"]
)
def test_what_is_refused_keeps_nothing(refused: str) -> None:
    """A fault that is not allowed, as its page says: without a nomination, for which it is too
    early while a delete is refused, the claim is breached as without the guard."""
    text = (
        "scenario: given_away\nswitches: {guard: on}\nfaults:\n"
        f"  - server_error: rescheduler {refused}\n"
    )
    played = play(parse(text, "refused"), RECIPE)
    assert [each.invariant for each in played.verdict.violations] == ["room_is_made_once"]
