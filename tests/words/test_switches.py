"""Switches: what each may be, how a profile bundles them, and how a mistake is told."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver.switches import APISERVER
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.switches import KUBELET
from actors.scheduler.switches import PROFILES, SCHEDULER, switches_of
from testbed.errors import ScenarioError, UnknownName
from testbed.switches import USUAL, Component, on_off, one_of, text_of, told, whole
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.painters import PAINTER, Switches


@each_row(
    ("given", "value"),
    [
        ({"color": "blue"}, Switches(color="blue")),
        ({"coats": "3"}, Switches(coats=3)),
        ({"drying": "air"}, Switches()),
        ({"drying": "5"}, Switches(drying=5)),
        ({"is_shiny": "on"}, Switches(is_shiny=True)),
        ({"is_shiny": "true"}, Switches(is_shiny=True)),
        ({"is_shiny": "false"}, Switches()),
        ({}, Switches()),
    ],
)
def test_a_text_is_read_as_its_switch_says(given: dict[str, str], value: Switches) -> None:
    """A word, a whole number, a word or a number, on and off."""
    assert PAINTER.of("", given) == value


@each_row(
    ("given", "said"),
    [
        ({"colour": "red"}, "no switch of painter 'colour'. Did you mean 'color'.\nKnown: coats,"),
        ({"color": "rad"}, "no value of painter.color 'rad'. Did you mean 'red'.\nKnown: blue,"),
        ({"is_shiny": "yes"}, "no value of painter.is_shiny 'yes'.*\nKnown: off, on"),
        ({"coats": "0"}, "painter.coats=0: expected a whole number from 1.\nNext: .* it is 1 then"),
        ({"coats": "²"}, "painter.coats=²: expected a whole number from 1"),
        ({"coats": "9" * 5000}, "expected a whole number"),
        ({"drying": "4"}, "painter.drying=4: expected air or a whole number from 5.\nNext: "),
    ],
)
def test_what_a_switch_cannot_be_is_told(given: dict[str, str], said: str) -> None:
    """With the nearest name, or what was expected; and where to look."""
    with pytest.raises((UnknownName, ScenarioError), match=f"(?s){said}") as refused:
        PAINTER.of("", given)
    assert "\nNext: " in str(refused.value)


def test_a_constructor_may_be_given_a_bool_or_a_number() -> None:
    """It means what a user writes for it; what it cannot be is told with the words that it can."""
    kubelet = Kubelet("k", "n1", switches={"readmit_running": False, "status_delay_ms": 5})
    switches = KUBELET.told(kubelet.told)
    assert (switches.readmit_running, switches.status_delay_ms) == (False, 5)
    wrong = Kubelet("k", "n1", switches={"oom_model": True})
    with pytest.raises(UnknownName, match=r"(?s)of kubelet.oom_model 'on'.*\nKnown: off, score\."):
        World().start(wrong)


@pytest.mark.spec("GEN-1", "GEN-2")
def test_a_profile_is_a_flat_mapping_and_a_switch_goes_before_it() -> None:
    """What it says nothing of is as usual, and the usual one need not be written down."""
    assert PAINTER.of("old") == Switches(color="green", is_shiny=True)
    assert PAINTER.of("old", {"color": "red"}) == Switches(is_shiny=True)
    assert PAINTER.told({"profile": "old", "coats": "2"}) == attrs.evolve(
        PAINTER.of("old"), coats=2
    )
    assert PAINTER.of(USUAL) == PAINTER.of() == Switches()
    assert Component("oven", Switches).known_profiles == (USUAL,)
    with pytest.raises(UnknownName, match=r"no profile 'odl'. Did you mean 'old'\?\nKnown: k8s"):
        PAINTER.of("odl")


def test_what_is_in_force_reads_as_it_is_given() -> None:
    """So that what a trace shows can be given again."""
    flat = PAINTER.flat(PAINTER.of("old", {"drying": "7"}))
    assert flat == {"color": "green", "coats": "1", "drying": "7", "is_shiny": "on"}
    assert PAINTER.flat(PAINTER.of("", flat)) == flat
    assert [text_of(value) for value in (True, False, "true", "false", 3, "x")] == [
        "on", "off", "on", "off", "3", "x",
    ]  # fmt: skip
    assert told("old", {"coats": 2, "is_shiny": True}) == {
        "profile": "old", "coats": "2", "is_shiny": "on",
    }  # fmt: skip
    assert told() == {}


def test_what_is_said_of_a_switch_is_the_string_beneath_it() -> None:
    """In one line; one without a string says nothing."""
    assert PAINTER.says() == {
        "color": "What with.", "coats": "How often.",
        "drying": "How it dries: by itself, or in so many seconds.",
    }  # fmt: skip


@attrs.frozen
class Plain:
    """A field that is no switch."""

    color: str = "red"


@attrs.frozen
class Meant:
    """What the profiles below are of."""

    color: str = one_of("red", "green")
    coats: int = whole(1)
    is_shiny: bool = on_off(False)


@each_row(
    ("kind", "profiles", "said"),
    [
        (Plain, {}, "Plain.color is no switch of mine: expected one_of"),
        (Meant, {"old": {"colour": "red"}}, "no switch of mine 'colour'"),
        (Meant, {"old": {"color": "rad"}}, "no value of mine.color 'rad'"),
        (Meant, {"old": {"coats": "-1"}}, "switch mine.coats=-1: expected a whole number from 0"),
    ],
)
def test_a_component_that_makes_no_sense_is_refused(
    kind: type[Any], profiles: dict[str, dict[str, str]], said: str
) -> None:
    """When the Component is made, not when that profile is used."""
    with pytest.raises((UnknownName, ScenarioError), match=said):
        Component("mine", kind, profiles)


@pytest.mark.spec("GEN-1", "GEN-2")
@each_row("component", [APISERVER, KUBELET, SCHEDULER])
def test_every_component_has_the_four_profiles_and_says_what_each_switch_is(
    component: Component,
) -> None:
    """The usual one sets nothing: what a switch is without a profile is what 1.26 does."""
    assert component.known_profiles == ("alpha", "seed", USUAL, "k8s-modern")
    assert component.profiles[USUAL] == {}
    assert list(component.says()) == list(component.kinds)


@pytest.mark.spec("GEN-3")
def test_only_the_shipped_defects_that_matter_are_on_in_1_26() -> None:
    """In every other profile each defect is off."""
    for profile in PROFILES:
        values = SCHEDULER.flat(switches_of(profile))
        bugs = {value for name, value in values.items() if name.startswith("bug_")}
        assert bugs == {"on" if profile == USUAL else "off"}


@pytest.mark.spec("SCH-30")
def test_a_pod_that_failed_never_comes_back_at_once() -> None:
    """A full cluster would spin for ever at one instant."""
    assert switches_of("alpha").fifo_retry == "backoff"
    assert switches_of("alpha", {"fifo_retry": "1000"}).fifo_retry == 1000
    with pytest.raises(ScenarioError, match="fifo_retry=0: expected backoff or a whole number fro"):
        switches_of("alpha", {"fifo_retry": "0"})
