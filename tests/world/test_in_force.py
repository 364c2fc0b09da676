"""InForce: who is switched by what is said, what goes before what, and where it stands."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import attrs
import pytest

from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.errors import RaceRefused, ScenarioError, UnknownName
from testbed.faults.crash import Crash
from testbed.objects.meta import Map
from testbed.races.expecting import both_sides, check_switches, expected_under
from testbed.races.playing import race_of
from testbed.races.race import Expectation, Race
from testbed.races.racefile import parse
from testbed.testing.run import play
from testbed.testing.seek import seek
from testbed.world.scenario import of
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.painters import Oven, Painter, painting
from tests.shared.stage import Cued, world_of

PAINTING = of(painting, "painting")


def held(world: World) -> dict[str, Any]:
    """What holds for each actor, by its name."""
    return {name: role.switches for name, role in world.table.roles.items()}


def colors(**given: str) -> dict[str, str]:
    """What alpha and beta paint with."""
    world = PAINTING.world({name.replace("__", "."): value for name, value in given.items()})
    return {name: role.switches.color for name, role in world.table.roles.items()}


# -- what goes before what ------------------------------------------------------------------------


@each_row(
    ("given", "alpha", "beta"),
    [
        ({}, "red", "red"),
        ({"painter__color": "blue"}, "blue", "blue"),
        ({"alpha__color": "blue"}, "blue", "red"),
        ({"alpha__color": "blue", "painter__color": "green"}, "blue", "green"),
        ({"profile": "old"}, "green", "green"),
        ({"painter__profile": "old"}, "green", "green"),
        ({"profile": "old", "alpha__profile": "k8s-1.26"}, "red", "green"),
        ({"painter__profile": "old", "alpha__profile": "k8s-1.26"}, "red", "green"),
        ({"profile": "old", "painter__profile": "k8s-1.26"}, "red", "red"),
        ({"alpha__profile": "old", "painter__color": "blue"}, "blue", "blue"),
        ({"profile": "old", "alpha__color": "red"}, "red", "green"),
    ],
)
def test_the_most_particular_wins_and_a_switch_beats_a_profile(
    given: dict[str, str], alpha: str, beta: str
) -> None:
    """For one actor, for its component, for all; a profile only sets what no switch sets."""
    assert colors(**given) == {"alpha": alpha, "beta": beta}


def test_what_a_user_says_goes_before_what_the_scenario_says() -> None:
    """A switch before a switch, a profile before a profile; but no profile before a switch."""

    def build(world: World) -> None:
        world.start(Painter("alpha", profile="old", switches=Map(color="blue", coats="2")))

    def found(**given: str) -> tuple[Any, ...]:
        world = of(build).world({name.replace("__", "."): value for name, value in given.items()})
        switches = world.table.roles["alpha"].switches
        return switches.color, switches.coats, switches.is_shiny

    assert found() == ("blue", 2, True)
    assert found(profile="k8s-1.26") == ("blue", 2, False)
    assert found(painter__profile="k8s-1.26") == ("blue", 2, False)
    assert found(painter__color="red") == ("red", 2, True)
    assert found(alpha__coats="3") == ("blue", 3, True)


def test_an_actor_and_an_endpoint_are_told_what_holds() -> None:
    """By its Client, or by itself; one without switches is told nothing. What is made without a
    World goes by what it was told."""
    seen: list[Any] = []

    async def looks(client: Any) -> None:
        seen.append(client.switches)

    world = world_of(alpha=looks)
    world.run(Calm(), driver="direct")
    assert seen == [None]
    oven = Oven(world.store, color="blue")
    assert oven.switches.color == "blue"
    world = World(switches={"oven.color": "green"})
    world.serve(lambda store: Oven(store, color="blue", coats="3"))
    endpoint: Any = world.wire.posts["oven"].endpoint
    assert (endpoint.switches.color, endpoint.switches.coats) == ("green", 3)


def test_a_restart_changes_no_switch() -> None:
    """Each life is made from scratch, and behaves as the one before."""
    seen: list[str] = []

    @attrs.frozen
    class Napping(Painter):
        async def run(self, client: Client) -> None:
            seen.append(client.switches.color)
            await client.sleep(1000, "nap")

    world = World(switches={"alpha.color": "blue"})
    world.start(lambda: Napping("alpha"))
    world.allow(Crash("alpha", restart_after_ms=100))
    world.run(Cued("start alpha*", "fault * crash alpha"), driver="direct")
    assert seen == ["blue", "blue"]


def test_a_component_without_that_profile_stays_as_it_is() -> None:
    """`profile` is set for all: it is an error only if no component has it."""
    world = PAINTING.world({"profile": "old"})
    world.in_force.check("painting")
    endpoint: Any = world.wire.posts["oven"].endpoint
    assert endpoint.switches.color == "red"


# -- mistakes -------------------------------------------------------------------------------------


@each_row(
    ("given", "said"),
    [
        (
            {"alpah.color": "red"},
            "there is no part of painting with switches 'alpah'. Did you mean 'alpha'?\n"
            "Known: alpha, beta, oven, painter.",
        ),
        ({"gamma.color": "red"}, "there is no part of painting with switches 'gamma'."),
        ({".color": "red"}, "there is no part of painting with switches ''."),
        ({"alpha.colour": "red"}, "there is no switch of painter 'colour'. Did you mean 'color'?"),
        ({"painter.color": "rad"}, "there is no value of painter.color 'rad'. Did you mean 'red'?"),
        ({"alpha.profile": "odl"}, "there is no profile 'odl'. Did you mean 'old'?"),
        (
            {"profile": "odl"},
            "there is no profile of any part of painting 'odl'. Did you mean 'old'?\n"
            "Known: k8s-1.26, old.",
        ),
        (
            {"color": "red"},
            "there is no switch of painting 'color'.\nKnown: guard, helped.\nNext: say "
            "--switch painter.color=… or --switch oven.color=… or --switch alpha.color=… or "
            "--switch beta.color=…",
        ),
        ({"colro": "red"}, "Next: testbed list shows the switches of each scenario"),
    ],
)
def test_what_nobody_has_is_told_with_what_there_is(given: dict[str, str], said: str) -> None:
    """Before anything is played."""
    with pytest.raises(UnknownName) as unknown:
        PAINTING.check(given)
    assert said in str(unknown.value)


def test_a_part_that_another_switch_adds_can_be_switched() -> None:
    """What there is depends on the scenario's own switches."""
    PAINTING.check({"helped": "on", "gamma.color": "red"})
    text = "scenario: painting\nswitches: {helped: on}\nexpect:\n" + (
        "  - switches: {gamma.color: red}\n    holds: []\n"
        "  - switches: {helped: off, gamma.color: blue}\n    violates: all_is_red\n"
    )
    with pytest.raises(RaceRefused, match=r"a.yaml, line 6: there is no part .* 'gamma'"):
        check_switches(parse(text, "a.yaml"), PAINTING, "a.yaml")


def test_a_world_checks_what_it_was_given_by_itself() -> None:
    """Whoever assembles one by hand, too."""
    world = World(switches={"alphb.color": "red"})
    world.start(Painter("alpha"))
    with pytest.raises(UnknownName, match="Did you mean 'alpha'"):
        world.run(Calm(), driver="direct")


def test_a_name_cannot_be_an_actors_and_another_makes() -> None:
    """It would be unclear which one a switch is for. Of one component it may: all are meant."""
    world = World()
    world.start(Painter("oven"))
    world.serve(lambda store: Oven(store, "stove"))
    with pytest.raises(
        ScenarioError, match="'oven' is a painter, and all of another make are call"
    ):
        world.run(Calm(), driver="direct")
    world = World(switches={"painter.color": "blue", "beta.color": "green"})
    world.start(Painter("beta"), Painter("painter"))
    assert {name: each.color for name, each in held(world).items()} == {
        "beta": "green", "painter": "blue",
    }  # fmt: skip
    assert world.in_force.flat()["painter.color"] == "blue"
    assert world.in_force.flat()["beta.color"] == "green"


def test_a_scenario_may_not_call_a_switch_of_its_own_profile() -> None:
    """That is what is said of all components."""

    def mine(world: World, *, profile: str = "seed") -> None:
        """Nothing."""

    with pytest.raises(ScenarioError, match="'profile' is that of all components"):
        of(mine)


# -- where it stands ------------------------------------------------------------------------------


@pytest.mark.spec("GEN-2")
def test_all_that_is_in_force_stands_in_the_header() -> None:
    """By full names: of each make what holds for the first, then what differs; said by a user it
    makes the same World. What was said stands among the switches, so that it is said again."""
    run = play(PAINTING, Calm(), switches={"alpha.color": "blue", "profile": "old"})
    assert run.trace.header["switches"] == {
        "guard": "off", "helped": "off", "alpha.color": "blue", "profile": "old",
    }  # fmt: skip
    in_force = run.trace.header["in_force"]
    assert in_force == {
        "painter.profile": "old", "painter.color": "blue", "painter.coats": "1",
        "painter.drying": "air", "painter.is_shiny": "on", "beta.color": "green",
        "beta.coats": "2",
        "oven.profile": "k8s-1.26", "oven.color": "red", "oven.coats": "1", "oven.drying": "air",
        "oven.is_shiny": "off",
    }  # fmt: skip
    again = play(PAINTING, Calm(), switches=in_force)
    assert again.trace.header["in_force"] == in_force
    assert {name: role.switches for name, role in again.world.table.roles.items()} == {
        name: role.switches for name, role in run.world.table.roles.items()
    }


def test_of_a_world_without_components_nothing_stands_there() -> None:
    """Nor of what was left out of it, which can be switched all the same: a race file that was
    shrunk says what it said."""
    world = world_of()
    world.run(Calm(), driver="direct")
    assert "in_force" not in world.trace.header
    world = PAINTING.world({"alpha.color": "blue"}, without=["alpha"])
    world.run(Calm(), driver="direct")
    assert world.trace.header["in_force"]["painter.color"] == "red"


# -- wherever switches are ------------------------------------------------------------------------

RACE = """\
    scenario: painting
    switches: {painter.is_shiny: true}
    expect:
      - switches: {alpha.color: blue}
        violates: all_is_red
      - switches: {profile: old, alpha.profile: k8s-1.26, beta.color: red}
        holds: [all_is_red]
    """


def test_a_race_file_switches_components_on_each_side() -> None:
    """Of the whole race, and of a side; on and true are the same."""
    race = parse(dedent(RACE), "a.race.yaml")
    check_switches(race, PAINTING, "a.race.yaml")
    blue, red = both_sides(race, PAINTING, "a.race.yaml")
    assert (blue.is_met, red.is_met) == (True, True)
    assert (
        expected_under(race, PAINTING, {"painter.is_shiny": "on", "alpha.color": "blue"})
        is (race.expect[0])
    )
    assert expected_under(race, PAINTING, {"alpha.color": "green"}) is None


@each_row(
    ("old", "new", "said"),
    [
        ("painter.is_shiny", "painter.shiny", "a.yaml, line 2: there is no switch of painter 'shi"),
        (
            "alpha.color: blue",
            "alpha.color: bleu",
            "a.yaml, line 4: there is no value of painter.c",
        ),
        ("profile: old", "profile: odl", "a.yaml, line 6: there is no profile of any part"),
        ("beta.color", "bete.color", "a.yaml, line 6: .*Did you mean 'beta'"),
    ],
)
def test_a_race_file_with_a_switch_misspelt_is_told_the_line(old: str, new: str, said: str) -> None:
    """Also one of a component: what there is, is known when the World is assembled."""
    race = parse(dedent(RACE).replace(old, new), "a.yaml")
    with pytest.raises(RaceRefused, match=f"(?s){said}"):
        check_switches(race, PAINTING, "a.yaml")


def test_a_race_is_made_with_what_was_said() -> None:
    """And plays the same again."""
    race = race_of(PAINTING, {"alpha.color": "blue"}, [])
    assert dict(race.switches) == {"guard": "off", "helped": "off", "alpha.color": "blue"}
    text = Race("painting", race.switches, expect=(Expectation(violates="all_is_red"),)).text()
    assert "switches: {guard: off, helped: off, alpha.color: blue}" in text
    (side,) = both_sides(parse(text, "a"), PAINTING, "a")
    assert side.is_met


def test_what_is_searched_is_searched_under_them() -> None:
    """And the race that is found says so, shrunk to who breaks the claim."""
    assert seek(PAINTING, runs=3).shrunk is None
    shrunk = seek(PAINTING, runs=3, switches={"painter.color": "blue"}).shrunk
    assert shrunk is not None
    assert shrunk.race.switches["painter.color"] == "blue"
    check_switches(shrunk.race, PAINTING, "a.race.yaml")


def test_a_mark_of_pytest_takes_them(pytester: pytest.Pytester) -> None:
    """And tells a mistake before it plays."""
    options = "-W error -p no:cacheprovider -p testbed.pytest_plugin"
    pytester.makeini(f"[pytest]\naddopts = {options}\ntrio_mode = true\n")
    pytester.makepyfile("""
        import pytest
        from tests.shared.painters import painting

        @pytest.mark.testbed(runs=2, switches={"alpha.color": "blue"}, violates="all_is_red")
        @pytest.mark.testbed(runs=2, switches={"profile": "old", "painter.color": "red"})
        def both_paint(world, *, guard=False):
            painting(world)

        def test_played(testbed_play):
            assert testbed_play(both_paint, switches={"beta.color": "blue"}).verdict.is_violated
    """)
    pytester.runpytest_inprocess().assert_outcomes(passed=3)
    pytester.makepyfile("""
        import pytest
        from tests.shared.painters import painting

        @pytest.mark.testbed(switches={"alpha.colour": "blue"})
        def both_paint(world, *, guard=False):
            painting(world)
    """)
    done = pytester.runpytest_inprocess()
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*no switch of painter 'colour'. Did you mean 'color'?*"])
