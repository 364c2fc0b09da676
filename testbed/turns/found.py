"""Found: what a claim has found wrong, as data. About: which objects, fields and actors it is of.

A sentence is for people. What else is made of a breach (its story, its race, a page, `--json`)
takes what it needs from here. Of a claim that returns a sentence alone, `named_in` finds what it
is about by its words. That is the one place in which the sentence of a breach is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Protocol, Self

import attrs

from testbed.code.quick import quick
from testbed.errors import ScenarioError, shown
from testbed.objects.kinds import kinds_below

STUCK = "stuck"
"""Nothing can move, and a task waits for what can never come."""
DIED = "died"
"""An actor died of an exception."""
LAP = "lap"
"""The same goes round again and again, and nothing is in sight that ends it."""
ROUND = "round"
"""The same has come round once more."""
TWO_ENDS = "two ends"
"""In another order the Run ends otherwise."""
DEADLINE = "deadline"
"""It has not come true in time."""
NEVER = "never"
"""The Run is over, and it has not come true."""
MISSING = "missing"
"""Something is not there, or was not done, that should be."""
TOO_MANY = "too many"
"""There is more than there may be: pods, holders, what was spent of a budget."""
TAKEN_BACK = "taken back"
"""A write has undone what no write may undo."""
UNEQUAL = "unequal"
"""Two that should say the same do not: a Cache or books, and the Store."""
FORBIDDEN = "forbidden"
"""An actor has done what a rule does not allow."""
REASONS = (
    STUCK, DIED, LAP, ROUND, TWO_ENDS, DEADLINE, NEVER, MISSING, TOO_MANY, TAKEN_BACK, UNEQUAL,
    FORBIDDEN,
)  # fmt: skip
"""The kinds of breach that a claim may name; empty if it names none."""


class HasKey(Protocol):
    """Stands in the Store: an object, or an Entry or a Change of one."""

    @property
    def key(self) -> str:
        """Return its key in the Store: `pods/default/web`."""


def _keys(things: Iterable[str | HasKey] | str | HasKey) -> tuple[str, ...]:
    """The keys of these, each once; a single one is one."""
    many: Iterable[Any] = things if isinstance(things, Iterable) else (things,)
    many = (things,) if isinstance(things, str) else many
    return tuple(dict.fromkeys(getattr(each, "key", each) for each in many))


def _names(names: Iterable[str] | str) -> tuple[str, ...]:
    """These names, each once; a single text is one."""
    return tuple(dict.fromkeys((names,) if isinstance(names, str) else names))


@quick
@attrs.frozen
class About:
    """What a breach is about; what comes first matters most.

    Give objects, or their keys: `About(keys=(pod, "nodes/n1"), fields="spec.node_name")`.
    """

    keys: tuple[str, ...] = attrs.field(default=(), converter=_keys)
    """The objects, by their keys in the Store: `pods/default/web`."""
    fields: tuple[str, ...] = attrs.field(default=(), converter=_names)
    """Their fields that matter, dotted: `spec.node_name`."""
    actors: tuple[str, ...] = attrs.field(default=(), converter=_names)
    """The actors, by name."""

    def of(self, fields: tuple[str, ...]) -> About:
        """Return the same, of these fields if it names none."""
        return attrs.evolve(self, fields=fields) if fields and not self.fields else self

    def __str__(self) -> str:
        return ", ".join((*self.keys, *self.fields, *self.actors))

    def as_dict(self) -> dict[str, list[str]]:
        """Return it as plain data for JSON."""
        return {name: list(getattr(self, name)) for name in ("keys", "fields", "actors")}


NOTHING = About()


@quick
@attrs.frozen
class Found:
    """What a claim returns that knows what is wrong with what: its sentence, and the data of it."""

    text: str
    """What is wrong, in a sentence."""
    about: About | None = None
    """What it is about; None: what the sentence names."""
    reason: str = ""
    """Which kind of breach it is, one of `REASONS`; empty if it is of none."""
    since: int | None = None
    """The revision since which it has been so, if that is known."""
    alike_by: str = ""
    """Makes it the same as another breach of a claim that breaks for many reasons; empty: every
    breach of the claim is the same. It names nothing that depends on the Run."""

    @classmethod
    def of(
        cls,
        text: str,
        *things: str | HasKey,
        fields: Iterable[str] | str = (),
        actors: Iterable[str] | str = (),
        reason: str = "",
        since: int | None = None,
    ) -> Self:
        """Make one of its sentence and the objects it is about, or their keys."""
        return cls(text, About(things, fields, actors), reason, since)


Wrong = str | Found | None
"""What a claim says: what is wrong, with its data or as a sentence alone, or None."""


def told(
    wrong: str | Found,
    *things: str | HasKey,
    before: str = "",
    after: str = "",
    fields: Iterable[str] | str = (),
    actors: Iterable[str] | str = (),
    reason: str = "",
    since: int | None = None,
) -> Found:
    """Return what was found with more said before it and after it, about these things, too. What it
    says itself comes first; a reason or a revision that it names stays."""
    found = wrong if isinstance(wrong, Found) else Found(wrong)
    about, more = found.about, About(things, fields, actors)
    if more != NOTHING:
        own = about or NOTHING
        about = About(
            (*own.keys, *more.keys), (*own.fields, *more.fields), (*own.actors, *more.actors)
        )
    since = since if found.since is None else found.since
    text, reason = f"{before}{found.text}{after}", found.reason or reason
    return Found(text, about, reason, since, found.alike_by)


def check_found(found: Found) -> None:
    """Refuse what no breach can be made of: ScenarioError says which part of it is none."""
    text, about, reason, since = found.text, found.about, found.reason, found.since
    if not isinstance(text, str):
        raise _refused("text", text, "a sentence that says what is wrong")
    if about is not None and not isinstance(about, About):
        raise _refused("about", about, "About(keys=…, fields=…, actors=…), or nothing")
    if about is not None and not _are_texts((*about.keys, *about.fields, *about.actors)):
        raise _refused("about", about, "keys, fields and actors that are texts")
    if reason and reason not in REASONS:
        among = ", ".join(map(repr, REASONS))
        raise _refused("reason", reason, f"one of {among}, or nothing")
    if since is not None and (isinstance(since, bool) or not isinstance(since, int)):
        raise _refused("since", since, "a revision, or nothing")


def _are_texts(parts: tuple[object, ...]) -> bool:
    return all(isinstance(each, str) for each in parts)


def _refused(name: str, value: object, expected: str) -> ScenarioError:
    return ScenarioError(f"{name}={shown(value)}: expected {expected}")


# -- by words --------------------------------------------------------------------------------------

WORD = re.compile(r"[\w./-]+")


def words_of(text: str) -> set[str]:
    """The words of a text, such as names and values; of a key also what stands before its slash."""
    words = {word.strip("./") for word in WORD.findall(text)}
    return words | {word.partition("/")[0] for word in words}


def named_in(text: str, keys: Iterable[str], actors: Iterable[str]) -> About:
    """Return those of these objects and actors that a text names, in the order in which it does.

    1. A word is as long as it can be, so `web` is not named by `web-1`.
    2. An object is named by its key, or by its name alone: `pods/default/web`, `web`.
    3. A word that is a key of a kind names an object, be it there or not; so does what is asked of
       it: `pods/default/web/binding`.
    4. An actor is named by its name, or by a task of it: `alpha/main`.
    """
    words = dict.fromkeys(word.strip("./") for word in WORD.findall(text))
    named: dict[str, list[str]] = {}
    for key in keys:
        for word in (key, key.rpartition("/")[2]):
            if word in words:
                named.setdefault(word, []).append(key)
    parts = {kind.plural: 3 if kind.is_namespaced else 2 for kind in kinds_below() if kind.plural}
    found: dict[str, None] = {}
    for word in words:
        first, *more = word.split("/")
        if word in named:
            found.update(dict.fromkeys(sorted(named[word])))
        elif first in parts and len(more) + 1 >= parts[first] and not word.endswith("-"):
            found["/".join([first, *more][: parts[first]])] = None
    known = frozenset(actors)
    acting = (name for word in words for name in (word, word.partition("/")[0]) if name in known)
    return About(found, (), acting)


class ByWords:
    """What the sentence of a breach is about, found when somebody asks, and then kept."""

    __slots__ = ("_about", "_find")

    def __init__(self, find: Callable[[], About]) -> None:
        self._find: Callable[[], About] | None = find
        self._about = NOTHING

    def about(self) -> About:
        """Return what it is about."""
        if self._find is not None:
            self._about, self._find = self._find(), None
        return self._about
