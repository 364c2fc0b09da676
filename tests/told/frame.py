"""The truth about one race, as data, and how the first sentence of its story is judged by it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from testbed.objects.meta import Map
from testbed.races.playing import Played, play
from testbed.races.racefile import parse
from testbed.story.explain import explained
from testbed.world.scenario import find, of

WORDS_MAX = 40
"""How long the first sentence may be."""
GIVES_UP = "the cause is not known|does not show why"
"""What a story says that does not know why."""


@attrs.frozen
class Told:
    """The truth about one race of one World, as its author would say it.

    Where several words are given, one of them is enough. They are regular expressions, so that a
    truth does not depend on how a sentence is worded.
    """

    scenario: Callable[..., None] | str
    """The World; or the name of one that comes along."""
    actor: str | tuple[str, ...]
    """Who decided it. No other actor is named before it, and it has a column in the diagram."""
    about: str | tuple[str, ...]
    """The object that it did this to, or that suffers from it."""
    words: tuple[str, ...]
    """The reason: what it believed, was not told, was refused; or by which rule it went."""
    said: str
    """The first sentence as its author would write it: one of those that are true."""
    did: tuple[str, ...] = ()
    """What it did or left undone, where the reason does not say it."""
    made_so: str = ""
    """Who made its belief false, if it acted by one that was true before."""
    never: tuple[str, ...] = ()
    """What a false accusation would say."""
    race: str = ""
    """The lines of a race file; empty: the calm run."""
    switches: Mapping[str, Any] = Map()
    """What is set beside the guard, which is off."""
    variant: str = ""
    """What tells this race from another of the same World."""
    claim: str = ""
    """The claim that is told of, if the race breaks several."""

    @property
    def name(self) -> str:
        """What the World is called, and which race of it this is."""
        name = self.scenario if isinstance(self.scenario, str) else self.scenario.__name__
        return f"{name}-{self.variant}" if self.variant else name

    def also(self, variant: str, race: str, said: str, **changed: Any) -> Told:
        """Another race of the same World, of which the same is true but for what is changed."""
        return attrs.evolve(self, variant=variant, race=race, said=said, **changed)


@attrs.frozen
class Opening:
    """What a reader sees first."""

    said: str
    """The first sentence: the cause."""
    setting: str
    """By which setting, if the guard sets that otherwise."""
    columns: str
    """The head of the diagram."""
    actors: frozenset[str]
    """All that take part."""


def opening(told: Told) -> Opening:
    """Play the race, see that it is one, and read how its story begins."""
    played = played_race(told)
    assert played.verdict.is_violated, str(played.verdict)
    assert not played.unmatched, [str(fate.deviation) for fate in played.unmatched]
    data = explained(played.trace, played.verdict, told.claim)
    cause = data["cause"]
    actors = frozenset(played.world.table.roles)
    return Opening(cause["said"], cause["setting"], data["diagram"][0], actors)


def played_race(told: Told, guard: str = "off") -> Played:
    """Play the race, by the calm run if it has no lines. A World without a guard is played as it
    is."""
    recipe = find(told.scenario) if isinstance(told.scenario, str) else of(told.scenario)
    race = parse(f"scenario: {recipe.name}\n{told.race}", told.name)
    known = {"guard": guard} if has_guard(told) else {}
    return play(race, recipe, switches={**known, **told.switches})


def has_guard(told: Told) -> bool:
    """Whether its World has the switch `guard`."""
    recipe = find(told.scenario) if isinstance(told.scenario, str) else of(told.scenario)
    return "guard" in recipe.world().switches


def faults_of(told: Told, found: Opening) -> list[str]:
    """What is wrong with how that story begins; empty if it is true."""
    said = found.said
    wrong = []
    order = sorted(found.actors, key=lambda name: _place(name, said))
    first = order[0] if order and _place(order[0], said) < len(said) else "nobody"
    deciders = _any_of(told.actor)
    if first not in deciders:
        wrong.append(f"{first} is named first, and it was {' or '.join(deciders)}")
    if not any(_has_column(name, found.columns) for name in deciders):
        wrong.append(f"{' or '.join(deciders)} has no column")
    both = f"{found.setting} {said}"
    for what, words in (("object", _any_of(told.about)), ("act", told.did), ("reason", told.words)):
        if words and not any(re.search(word, both, re.IGNORECASE) for word in words):
            wrong.append(f"no {what}: none of {', '.join(words)}")
    if told.made_so and _place(told.made_so, said) == len(said):
        wrong.append(f"it does not say that {told.made_so} made it so")
    if re.search(GIVES_UP, both):
        wrong.append("it does not know why")
    wrong += [f"it says {word!r}" for word in told.never if re.search(word, said)]
    if (length := len(said.split())) > WORDS_MAX:
        wrong.append(f"{length} words")
    return wrong


def _any_of(given: str | tuple[str, ...]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else given


def _has_column(name: str, columns: str) -> bool:
    """Whether that actor has a column; a long name is cut short there."""
    heads = columns.split()
    return name in heads or any(head.endswith("…") and name.startswith(head[:-1]) for head in heads)


def _place(name: str, text: str) -> int:
    """Where that actor is first named, not within a key or another name; else the length."""
    found = re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w-]|/(?!main))", text)
    return found.start() if found else len(text)
