"""PlannedRun: one Run that a search wants played. SearchTask: what all of them have in common.
Outcome: what one of them has shown.

All three are plain data, one line of JSON each: so a Run can be played in another process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import attrs

from testbed.choosers.sampling.learned import Profile
from testbed.errors import HarnessBug
from testbed.objects.codec import decode, encode
from testbed.turns.option import Choice, HoldBack, LetPass, Release

Data = dict[str, Any]
NO_PROFILE = Profile(0, {}, {}, {}, [])


@attrs.frozen
class SearchTask:
    """What is searched: everything that all Runs of one search have in common."""

    scenario: str
    switches: dict[str, str] = attrs.field(factory=dict)
    faults: tuple[str, ...] = ()
    """Faults allowed in addition to the scenario's own, as `parse_fault` reads them."""
    allows_none: bool = False
    """Whether no fault may strike, not even one that the scenario allows."""
    seed: int = 0
    driver: str = "direct"
    folders: tuple[str, ...] = ()
    """Folders with the user's own scenarios and Choosers."""
    policies: tuple[str, ...] = ()
    """The files of the user's own policies."""

    def as_dict(self) -> Data:
        """Return it as plain data for JSON."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: Data) -> Self:
        """Make it again from what `as_dict` returned."""
        lists = ("faults", "folders", "policies")
        return cls(**{**data, **{name: tuple(data[name]) for name in lists}})


@attrs.frozen
class PlannedRun:
    """One Run to be played: its number, its Chooser, and its plan if it has one."""

    run: int
    chooser: str
    plan: Any = None
    """The bounded search's plan for this Run; None for a Chooser that makes its own choices."""

    def as_dict(self) -> Data:
        """Return it as plain data for JSON."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: Data) -> Self:
        """Make it again from what `as_dict` returned."""
        return cls(**data)


@attrs.frozen
class Breach:
    """A Violation as plain data."""

    invariant: str
    said: str
    reason: str = ""
    alike_by: str = ""


@attrs.frozen
class Outcome:
    """What one Run has shown."""

    run: int
    chooser: str
    verdict: str
    """held, violated or undecided; or *cut* (the Run adds nothing), or *exhausted* (the Chooser has
    no Run left)."""
    end: str
    turns: int = 0
    virtual_ms: int = 0
    faults: tuple[str, ...] = ()
    """The words of the faults that struck, in order."""
    breaches: tuple[Breach, ...] = ()
    choices: tuple[Any, ...] = ()
    """All choices of a violated Run, which are enough to replay it; empty for any other Run."""
    profile: Profile = NO_PROFILE
    children: Any = None
    """The plans that go on from a planned Run; None if it had no plan, or its worker died."""
    trail: str = ""
    """What those plans must begin with, as `Deviant.trail`."""
    not_compared: str = ""
    """Why `confluent` has compared it with nothing; empty if it has, or was not asked."""
    was_compared: bool = False
    """Whether `confluent` has compared it."""
    allowed: tuple[str, ...] = ()
    """Words for what claims have seen of it and allow."""
    until_ms: int | None = None
    """The time up to which it was played and judged, if timers were left that are due later."""
    tried: Any = None
    """What was tried in it, as `TriedCounts.as_data`; None if it was not played to an end."""

    @property
    def is_violated(self) -> bool:
        """Whether at least one claim was breached."""
        return self.verdict == "violated"

    def line(self) -> bytes:
        """Return it as one line of JSON, without the newline."""
        return encode(self)

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """Make it again from what `line` returned."""
        data = decode(line)
        data["profile"] = Profile.of(data["profile"])
        data["breaches"] = tuple(Breach(**breach) for breach in data["breaches"])
        for name in ("choices", "faults", "allowed"):
            data[name] = tuple(data.get(name, ()))
        return cls(**data)


def as_data(choices: Iterable[Choice]) -> tuple[Any, ...]:
    """Return choices as plain data for JSON; most of them are just the number of an Option."""
    return tuple(map(_as_data, choices))


def _as_data(choice: Choice) -> Any:
    match choice:
        case HoldBack(index, for_ms):
            return {"hold": index} if for_ms is None else {"hold": index, "for_ms": for_ms}
        case Release(index):
            return {"release": index}
        case LetPass(to_ms):
            return {"pass": to_ms}
    return choice


def as_choices(data: Sequence[Any]) -> list[Choice]:
    """Make the choices again from what `as_data` returned."""
    return [_as_choice(each) for each in data]


def _as_choice(data: Any) -> Choice:
    match data:
        case int():
            return data
        case {"hold": index}:
            return HoldBack(index, data.get("for_ms"))
        case {"release": index}:
            return Release(index)
        case {"pass": to_ms}:
            return LetPass(to_ms)
    raise HarnessBug(f"{data!r} is no choice")
