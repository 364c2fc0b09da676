"""Job: one Run that a search wants played, here or elsewhere. Task: what all of them share.
Outcome: what came of one. All three are plain data, one line of JSON each."""

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
    """What is searched: everything that the Runs of one search have in common."""

    scenario: str
    switches: dict[str, str] = attrs.field(factory=dict)
    faults: tuple[str, ...] = ()
    """Allowed beside the scenario's own, as `parse_fault` reads them."""
    allows_none: bool = False
    """Whether no fault may strike, not even one that the scenario allows."""
    seed: int = 0
    driver: str = "direct"
    folders: tuple[str, ...] = ()
    """Where the user's own scenarios and Choosers are."""
    policies: tuple[str, ...] = ()
    """The files of the user's own policies."""

    def as_dict(self) -> Data:
        """As JSON has it."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: Data) -> Self:
        """What `as_dict` told of."""
        lists = ("faults", "folders", "policies")
        return cls(**{**data, **{name: tuple(data[name]) for name in lists}})


@attrs.frozen
class PlannedRun:
    """One Run: its number, who chooses in it, and what is planned for it."""

    run: int
    chooser: str
    plan: Any = None
    """What the bounded search wants of this Run; None for those that draw their Runs."""

    def as_dict(self) -> Data:
        """As JSON has it."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: Data) -> Self:
        """What `as_dict` told of."""
        return cls(**data)


@attrs.frozen
class Breach:
    """A Violation as it travels."""

    invariant: str
    said: str


@attrs.frozen
class Outcome:
    """What one Job has shown."""

    run: int
    chooser: str
    verdict: str
    """held, violated or undecided; or *cut* (it adds nothing), or *exhausted* (none was left)."""
    end: str
    turns: int = 0
    virtual_ms: int = 0
    faults: tuple[str, ...] = ()
    """The words of those that struck, in order."""
    breaches: tuple[Breach, ...] = ()
    choices: tuple[Any, ...] = ()
    """Of a Run that was violated: they alone play it again."""
    profile: Profile = NO_PROFILE
    children: Any = None
    """What a planned Run has shown that could be planned next."""

    @property
    def is_violated(self) -> bool:
        """At least one claim was breached."""
        return self.verdict == "violated"

    def line(self) -> bytes:
        """One line of JSON, without its end."""
        return encode(attrs.asdict(self))

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """What stands on such a line."""
        data = decode(line)
        data["profile"] = Profile.of(data["profile"])
        data["breaches"] = tuple(Breach(**breach) for breach in data["breaches"])
        data["choices"], data["faults"] = tuple(data["choices"]), tuple(data["faults"])
        return cls(**data)


def as_data(choices: Iterable[Choice]) -> tuple[Any, ...]:
    """Choices as JSON has them: the number of an Option is most of them."""
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
    """The Choices that `as_data` told of."""
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
