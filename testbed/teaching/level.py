"""Level: one step of the ladder: a World with a race in it, what is asked, and the trials of it."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import attrs

from testbed.client.actor import Actor
from testbed.objects.meta import Map
from testbed.switches import Component
from testbed.teaching.looks import WayToLook
from testbed.teaching.seat import switch_of

WORDS_MAX = 12
HINTS_MAX = 4
BITS = 16
"""How many random bits are drawn to choose one of a few values."""


def _switches(given: Mapping[str, Any]) -> Map[Any]:
    return Map(given)


@attrs.frozen(kw_only=True)
class LevelTrial:
    """One trial of an answer: a World of the level, and how far to look for a race in it."""

    name: str
    """What it tries, in a few words: `two clerks, one request is lost`."""
    look: WayToLook
    switches: Map[Any] = attrs.field(factory=Map, converter=_switches)
    faults: tuple[str, ...] = ()
    """The faults that may strike beside those of the scenario, as `parse_fault` reads them."""
    is_varied: bool = False
    """Whether names and numbers are drawn, each out of those that the level states."""
    runs_out: bool = False
    """Whether a Run may go on until its virtual time is up; if so, it counts as held. Then every
    claim of the level must have a time limit."""
    is_scored: bool = False
    """Whether the score of the level counts its World: then all that is measured must be possible
    in it."""


@attrs.frozen(kw_only=True)
class GuessFirst:
    """A question to guess at before any code is read."""

    question: str
    choices: tuple[str, ...]
    answer: int = attrs.field()
    """The place of the right choice, from 1."""
    why: str

    @answer.validator
    def _check_answer(self, _: attrs.Attribute[int], answer: int) -> None:
        if not 1 <= answer <= len(self.choices):
            raise ValueError(f"answer: expected 1 to {len(self.choices)}, not {answer}")


@attrs.frozen(kw_only=True)
class RealIncident:
    """Where this has happened outside of a classroom."""

    said: str
    link: str
    """A public page that tells of it."""


def _few(most: int) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    def check(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if not 0 < len(value) <= most:
            raise ValueError(f"{field.name}: expected 1 to {most}, not {len(value)}")

    return check


@attrs.frozen(kw_only=True)
class LearnLevel:
    """One level. It stands in the file of its scenario as `LEVEL`."""

    number: int
    title: str
    concept: str
    """What it teaches, in a sentence or two."""
    build: Callable[..., None]
    """The scenario; the level has its name."""
    component: Component
    """The part of the World that an answer takes, made by `seat`."""
    base: type[Actor]
    """What an answer is derived from: its fields are the settings that `run` may read."""
    careless: type[Actor]
    """The program that runs unless another one is named: the code to mend."""
    asked: str
    """What is asked of an answer, in plain sentences."""
    calls: str
    """Which calls of the Client are needed, in plain sentences."""
    imports: str
    """The imports at the top of the file that a student gets."""
    guess: GuessFirst
    hints: tuple[str, ...] = attrs.field(validator=_few(HINTS_MAX))
    """Each goes one step further than the one before."""
    words: Mapping[str, str] = attrs.field(validator=_few(WORDS_MAX))
    """The words of the level, each with a sentence."""
    incident: RealIncident
    trials: tuple[LevelTrial, ...]
    """In the order in which they are played; the first that does not hold ends the check."""
    scored_by: tuple[str, ...] = ()
    """The measures of `testbed compare` by which answers that pass are told apart; none: a level
    has no score."""
    has_map: bool = True
    """Whether its World has so few states that its page can show them all as a map."""
    varied: Mapping[str, tuple[Any, ...]]
    """The switches that a varied trial draws, each with the values that it may have."""

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self.build.__name__

    @property
    def switch(self) -> str:
        """The switch that names the program."""
        return switch_of(self.component)

    @property
    def answers_class(self) -> str:
        """What the class is called in the file that a student gets."""
        return f"My{self.base.__name__}"

    @property
    def file(self) -> str:
        """What that file is called."""
        return f"level_{self.number}.py"

    def drawn(self, seed: int) -> dict[str, Any]:
        """The switches that a varied trial has under this seed."""
        drawn = Random(seed * 1_000 + self.number)
        return {name: of[drawn.getrandbits(BITS) % len(of)] for name, of in self.varied.items()}

    def starter(self) -> str:
        """The text of the file that a student gets: the careless code, with what to mend."""
        careless = inspect.getsource(self.careless).rstrip()
        code = careless.replace(f"class {self.careless.__name__}(", f"class {self.answers_class}(")
        return "\n".join(
            (
                f'"""Level {self.number}: {self.title}.',
                "",
                *(line for text in (self.asked, self.calls) for line in (*_wrapped(text), "")),
                f"Check it: testbed learn {self.number} --check {self.file}",
                '"""',
                "",
                "from __future__ import annotations",
                "",
                *self.imports.strip().splitlines(),
                "",
                "",
                code,
                "",
            )
        )

    def spoken(self) -> set[str]:
        """Every word of its list, in small letters, one by one."""
        return {each for word in self.words for each in re.findall(r"[a-z]+", word.lower())}


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 88, break_long_words=False, break_on_hyphens=False)
