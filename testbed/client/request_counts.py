"""RequestCounts: what was served and what was refused in one Run, by actor.

A verdict says by it who got anything done. It counts what the wire does anyway, needs no Step, and
leaves no mark.
"""

from __future__ import annotations

from collections import defaultdict

from testbed.errors import ApiError
from testbed.objects.meta import Numbered
from testbed.store.endpoint import Operation
from testbed.store.store_endpoint import READS

FORBIDDEN = " is forbidden: "
"""In a refusal as Kubernetes words it, what comes before names the object that was refused."""
TEXT_MAX = 120
"""How much of a refusal is kept, in characters."""
Served = tuple[str, str, str]
"""Who asked, the kind of objects, and the verb."""
Refused = tuple[str, int, str, str]
"""Who asked, the code, its reason, and what the refusal says."""


class RequestCounts:
    """How many requests of each actor were served, and how many refused, in one Run."""

    def __init__(self) -> None:
        self.served: defaultdict[Served, int] = defaultdict(int)
        """Counted where it is served: this is done for each request."""
        self.refused: dict[Refused, int] = {}
        self.asked: set[tuple[str, str]] = set()
        """Who has asked in vain to write an object of which kind."""
        self.sought: set[str] = set()
        """The kinds of objects that somebody has asked in vain to read."""

    def refuse(self, actor: str, operation: Operation, error: ApiError) -> None:
        """Count an Operation that its Endpoint has refused."""
        if operation.verb in READS:
            self.sought.add(operation.plural)
        else:
            self.asked.add((actor, operation.plural))
        key = (actor, error.code, error.reason, _said(error, operation))
        self.refused[key] = self.refused.get(key, 0) + 1

    def has_read(self, plural: str) -> bool:
        """Return whether anybody has asked to read objects of that kind, and was answered."""
        if plural in self.sought:
            return True
        return any(kind == plural and verb in READS for _, kind, verb in self.served)


def _said(error: ApiError, operation: Operation) -> str:
    """What a refusal says, without the name of the one object that was asked for."""
    message = error.args[0] if error.args else ""
    # A text that holds numbers of the Store notes who looks at it; nobody does here.
    text = message._text if isinstance(message, Numbered) else str(message)
    text = text.rpartition(FORBIDDEN)[2].partition("\n")[0]
    if operation.name:
        text = text.replace(operation.name, "…")
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 1] + "…"
