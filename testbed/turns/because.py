"""Because: what an actor is given for a Record of its own, to be named by what follows from it."""

from __future__ import annotations


class Because:
    """What `client.record` gives back, to be handed on as `because=`. It tells an actor nothing:
    the number of a Record counts those of all actors."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return "<a record>"

    def __copy__(self) -> Because:
        return self

    def __deepcopy__(self, _: object) -> Because:
        return self

    def __getstate__(self) -> object:
        """Return what pickling looks at: nothing."""
        return None

    def digest(self) -> str:
        """What stands for it when Moments are compared."""
        return "a record"


def number_of(because: Because | None) -> int:
    """The number of that Record, for the testbed; 0 for none."""
    return because._number if because else 0
