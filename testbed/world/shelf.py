"""Shelf: what is known of the scenarios that come with the testbed, without playing one.

A scenario stands in a *theme*, which is the folder of its file. Its *page* is its docstring, whose
last paragraph may be *fields*, such as `Cause: …`, each from a line of its own. Which *components*
it is made of is seen in a World of it; which *issues* of other projects it is about stands in the
text of its file. Its *race file* stands beside that file.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import takewhile
from math import log
from pathlib import Path
from typing import Any

import attrs

from testbed.errors import ScenarioError
from testbed.world.scenario import Scenario, known
from testbed.world.users_code import PACKAGE, imported, our_scenarios

PAIR, CONTROL, LESSON = "pair", "control", "lesson"
KINDS = (PAIR, CONTROL, LESSON)
"""A pair has a guard: off, its race is found; on, it never happens. A control looks dangerous, and
no Run of it breaches a claim. A lesson has a calm Run that is worth reading."""
FIELDS = CAUSE, LOOK_FOR, SOURCE, TAGS, KIND = "Cause", "Look for", "Source", "Tags", "Kind"
"""What the fields of a page are called, in the order in which they stand."""
FIELD = re.compile(rf"^({'|'.join(FIELDS)}): ", re.MULTILINE)
ENDING_OF_RACES = ".race.yaml"
ISSUE = re.compile(r"\b([\w-]+)(?: PR)?#(\d{3,})\b")
"""How a public issue is named: `kubernetes#106884`, `kubernetes PR#89111`. A number of one or two
digits is that of an Option in a race file."""
PASTED = re.compile(r"(?:.*?([\w-]+)/(?:issues|pull)/|(?:[\w-]+/)?([\w-]*)(?: PR)?#)?(\d+)")
"""How people say one: a link, `kubernetes/kubernetes#106884`, or the number alone."""
ACTORS = "actors"
PLAIN = "plain actors"
"""The component of a scenario of which all actors are its own."""
WORD = re.compile(r"[a-z0-9]+")
CAMEL = re.compile(r"([a-z])([A-Z])")
PLAIN_WORDS = (
    "a", "an", "and", "are", "as", "at", "but", "by", "every", "for", "from", "has", "have", "i",
    "in", "is", "it", "its", "my", "no", "not", "of", "on", "or", "our", "that", "the", "their",
    "then", "there", "this", "to", "was", "we", "when", "which", "with",
)  # fmt: skip
"""Words that say nothing of what a page is about."""
RARE = 1000
"""What a word counts for is kept as a whole number of these parts."""
LIKE_MAX = 10
"""How many pages are shown that are like some words."""
BEGINNING, ENDING = 4, 4
"""Words are alike if they begin with so many of the same letters, or more, and what is left of each
is no longer than an ending: `preempts` is found by `preemption`, and `signs` by `signing`."""


@attrs.frozen
class Page:
    """What is told of one scenario."""

    scenario: Scenario
    theme: str
    kind: str
    """One of `KINDS`; empty if it is the user's own, has no guard, and does not say."""
    components: tuple[str, ...]
    """The packages of `actors/` that its World is made of, in order."""
    issues: tuple[str, ...]
    text: str
    """Its docstring without the fields."""
    cause: str = ""
    """The root cause, in a sentence."""
    look_for: str = ""
    """What is to be seen in the story of its race."""
    source: str = ""
    """The public issues or documents that it comes from."""
    tags: tuple[str, ...] = ()
    """The ways in which its race comes about (`scenarios/__init__.py` has a list of all)."""
    race_file: Path | None = None
    """The file of its race, if it has one."""

    @classmethod
    def of(cls, scenario: Scenario) -> Page:
        """The page of a scenario, of which one World is assembled."""
        module = inspect.getmodule(scenario.build)
        source = inspect.getsource(module) if module is not None else ""
        text, fields = split(inspect.getdoc(scenario.build) or "")
        return cls(
            scenario,
            theme_of(scenario),
            _kind(scenario, fields.get(KIND)),
            tuple(sorted({*_components(scenario)})) or (PLAIN,),
            tuple(dict.fromkeys(found[0] for found in ISSUE.finditer(source))),
            text,
            fields.get(CAUSE, ""),
            fields.get(LOOK_FOR, ""),
            fields.get(SOURCE, ""),
            tuple(re.findall(r"[\w-]+", fields.get(TAGS, ""))),
            race_file_of(scenario),
        )

    def as_dict(self) -> dict[str, Any]:
        """All but its text, as plain data for JSON."""
        scenario = self.scenario
        return {
            "name": scenario.name,
            "title": scenario.title,
            "theme": self.theme,
            "kind": self.kind,
            "components": self.components,
            "issues": self.issues,
            "cause": self.cause,
            "look_for": self.look_for,
            "source": self.source,
            "tags": self.tags,
            "switches": {name: switch.shown for name, switch in scenario.switches.items()},
        }

    def is_about(self, asked: str) -> bool:
        """Whether it is about an issue of that number, or of a project with that in its name."""
        named = [found for each in self.issues if (found := ISSUE.fullmatch(each))]
        if pasted := PASTED.fullmatch(asked.strip()):
            project = (pasted[1] or pasted[2] or "").lower()
            return any(found[2] == pasted[3] and project in found[1].lower() for found in named)
        return any(asked.lower() in found[1].lower() for found in named)

    def comes_from(self, words: str) -> bool:
        """Whether its source has these words."""
        return words.lower() in self.source.lower()

    def likeness(self, word: str) -> int:
        """2 if its name or title has this word, up to its ending; 1 if its page has; else 0."""
        head = f"{self.scenario.name} {self.scenario.title}"
        page = " ".join((self.text, self.cause, self.look_for, self.source, *self.tags))
        found = (any(_are_alike(word, other) for other in {*_words(said)}) for said in (head, page))
        is_in_head, is_in_page = found
        return 2 if is_in_head else int(is_in_page)


def pages() -> list[Page]:
    """The pages of all scenarios that come along, by theme, in the order of the reading."""
    order = themes()
    found = map(Page.of, known())
    return sorted(found, key=lambda page: (order.index(page.theme), page.scenario.name))


def split(page: str) -> tuple[str, dict[str, str]]:
    """The text of a page, and its fields, each on one line."""
    text, _, last = page.rpartition("\n\n")
    if not FIELD.match(last):
        return page, {}
    _, *parts = FIELD.split(last)
    names, said = parts[::2], (" ".join(part.split()) for part in parts[1::2])
    return text, dict(zip(names, said, strict=True))


def race_file_of(scenario: Scenario) -> Path | None:
    """The file of its race, which stands beside its own and has the name of the function, or of the
    file that this is in; None if there is none."""
    file = Path(inspect.getfile(scenario.build))
    names = (f"{stem}{ENDING_OF_RACES}" for stem in (scenario.build.__name__, file.stem))
    there = (file.with_name(name) for name in names)
    return next((each for each in there if each.is_file()), None)


def theme_of(scenario: Scenario) -> str:
    """The folder of its file; empty if it is the user's own."""
    package, *parts = scenario.build.__module__.split(".")
    return parts[0] if package == PACKAGE and len(parts) > 1 else ""


def themes() -> list[str]:
    """The themes, in the order in which they are read."""
    order = re.search(r"In order: ([\w\s,]+)\.", our_scenarios().__doc__ or "")
    assert order is not None
    shelved = {theme_of(scenario) for scenario in known()}
    return [name for name in re.split(r",\s+", order[1]) if name in shelved]


def tags() -> dict[str, str]:
    """The tags that a page may have, each with its meaning."""
    _, _, listed = (our_scenarios().__doc__ or "").partition("\nTags:\n")
    return dict(re.findall(r"^ +([\w-]+): (.+)$", listed, re.MULTILINE))


def subject_of(theme: str) -> str:
    """What its scenarios have in common, in a sentence."""
    return (imported(f"{PACKAGE}.{theme}").__doc__ or "").partition("\n")[0]


def like(words: str, found: Iterable[Page]) -> list[Page]:
    """The pages that have the most of these words, best first, at most ten. A word counts the more
    the fewer pages have it, and twice in a name or title. Only those are shown that come to half of
    the best."""
    asked = {word for word in _words(words) if word not in PLAIN_WORDS}
    pages, rates = list(found), Counter[int]()
    for word in sorted(asked):
        counts = {number: page.likeness(word) for number, page in enumerate(pages)}
        having = sum(map(bool, counts.values()))
        for number, count in counts.items():
            rates[number] += count * round(RARE * log((len(pages) + 1) / max(having, 1)))
    best = max(rates.values(), default=0)
    near = [number for number in rates if rates[number] and rates[number] >= best / 2]
    return [pages[number] for number in sorted(near, key=lambda n: (-rates[n], n))][:LIKE_MAX]


def _words(text: str) -> list[str]:
    """The words of a text, also of a name such as `nominatedNodeName`."""
    return WORD.findall(CAMEL.sub(r"\1 \2", text).lower().replace("_", " "))


def _kind(scenario: Scenario, said: str | None) -> str:
    if scenario.has_guard:
        return PAIR
    if said is None and not theme_of(scenario):
        return ""
    kind = (said or CONTROL).rstrip(".")
    if kind not in (CONTROL, LESSON):
        raise ScenarioError(
            f"{scenario.name}: its page says `{KIND}: {said}`; expected {CONTROL} or {LESSON}.\n"
            f"Next: write `{KIND}: {LESSON}.`, or give it a switch `guard`, and it is a {PAIR}."
        )
    return kind


def _are_alike(one: str, other: str) -> bool:
    pairs = zip(one, other, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return one == other or (same >= BEGINNING and max(len(one), len(other)) - same <= ENDING)


def _components(scenario: Scenario) -> Iterator[str]:
    world = scenario.world()
    made = [type(role.factory()) for role in world.table.roles.values()]
    made += [type(post.endpoint) for post in world.wire.posts.values()]
    for kind in (base for each in made for base in each.__mro__):
        package, *parts = kind.__module__.split(".")
        if package == ACTORS and len(parts) > 1 and parts[0] not in ("shared", "framework"):
            yield parts[0]
