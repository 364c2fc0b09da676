"""Every exception of the project, in three families that never mix.

    Exception
     ├─ ApiError              what an actor must survive: an answer that is a refusal
     │   ├─ BadRequest        400  the request cannot be read
     │   ├─ Forbidden         403  admission does not let it pass
     │   ├─ NotFound          404  the object is not there
     │   ├─ AlreadyExists     409  the name is taken
     │   ├─ Conflict          409  the object has moved on, or a precondition failed
     │   ├─ Expired           410  the history asked for has been compacted away
     │   ├─ Invalid           422  the request makes no sense
     │   ├─ TooManyRequests   429  later, perhaps
     │   ├─ InternalError     500  refused by an injected fault, without effect
     │   └─ Unavailable       503  no answer; the operation may or may not have taken effect
     │       ├─ TimedOut           the caller's own deadline passed first
     │       └─ WatchBroken        a watch was closed; resume it from the last revision seen
     └─ HarnessError          what a person must mend; its text says what, where, and the next step
         ├─ UnknownName            nothing of that name; the nearest one is told
         ├─ ScenarioError          a scenario or an actor broke a rule of the World
         ├─ RaceRefused            a race file that says what cannot be
         ├─ ManifestRefused        a manifest that says what no object can be
         ├─ TraceRefused           a trace that is cut short, edited, or of another format
         ├─ LedgerRefused          a search's file that is of another search, or is none
         ├─ ReplayDiverged         the same choices led elsewhere
         └─ HarnessBug             ours; please report it

    BaseException
     ├─ Crashed               this life of the actor is over (not an error, like trio's Cancelled)
     ├─ Cancelled             another task of the same actor cancelled this one
     └─ Overrun               the Run is ended from outside: a turn took too long

A Violation is none of these: it is a value (see `invariant.py`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar


class ApiError(Exception):
    """An answer that refuses: data to its caller, with the HTTP code and reason it would carry."""

    code: ClassVar[int] = 500
    reason: ClassVar[str] = "InternalError"

    def __init__(
        self, said: str = "", *, retry_after_s: int = 0, causes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(said)
        self.retry_after_s = retry_after_s
        """When to ask again, if its Endpoint has said so."""
        self.causes = causes
        """What more it says of why."""


class BadRequest(ApiError):
    """The request cannot be read."""

    code = 400
    reason = "BadRequest"


class Forbidden(ApiError):
    """The request can be read, and admission does not let it pass."""

    code = 403
    reason = "Forbidden"


class NotFound(ApiError):
    """The object is not there."""

    code = 404
    reason = "NotFound"


class AlreadyExists(ApiError):
    """The name is taken."""

    code = 409
    reason = "AlreadyExists"


class Conflict(ApiError):
    """The object has moved on since it was read, or a precondition failed."""

    code = 409
    reason = "Conflict"


class Expired(ApiError):
    """The history asked for has been compacted away; list again."""

    code = 410
    reason = "Expired"


class Invalid(ApiError):
    """The request makes no sense to the Endpoint that got it."""

    code = 422
    reason = "Invalid"


class TooManyRequests(ApiError):
    """The Endpoint will not do it now; it may later."""

    code = 429
    reason = "TooManyRequests"


class InternalError(ApiError):
    """The Endpoint refused, without effect: a fault made it, or it does not know what to do."""

    reason = "InternalError"


class Unavailable(ApiError):
    """No answer came. The operation may have taken effect, or not: look before you retry."""

    code = 503
    reason = "ServiceUnavailable"


CONNECTION_LOST = "connection lost"
"""Among the `causes` of an Unavailable: the connection was lost before the answer came. What says
this is not tried again by clients of Kubernetes that try again what was refused with 503."""


class TimedOut(Unavailable):
    """The caller's own deadline passed before the answer came."""

    code = 504
    reason = "Timeout"


class WatchBroken(Unavailable):
    """A watch was closed; nothing is lost if it is resumed from the last revision seen."""


class HarnessError(Exception):
    """Something a person must mend: what happened, the evidence, the next step."""


class UnknownName(HarnessError):
    """Nothing of that name exists; the nearest name is told."""

    def __init__(self, what: str, name: str, known: Iterable[str], *, see: str = "") -> None:
        names = sorted(known)
        hint = did_you_mean(name, names)
        listed = ", ".join(names) if names else "none"
        after = f"\nNext: {see}" if see else ""
        super().__init__(f"there is no {what} {name!r}.{hint}\nKnown: {listed}.{after}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'alpha'?`, or nothing if no name is near."""
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.4)
    return f" Did you mean {close[0]!r}?" if close else ""


class ScenarioError(HarnessError):
    """A scenario or an actor broke a rule of the World."""


class RaceRefused(HarnessError):
    """A race file that says what cannot be, or what nobody understands."""


class ManifestRefused(HarnessError):
    """Manifests with mistakes: all of them are told at once."""


class TraceRefused(HarnessError):
    """A trace that cannot be trusted: cut short, edited, or of another format."""


class LedgerRefused(HarnessError):
    """The file of a search that is of another search, in use, or none at all."""


class ReplayDiverged(HarnessError):
    """The same choices led elsewhere: something outside the World decided."""


class HarnessBug(HarnessError):
    """A rule of the testbed itself was broken, by the testbed. Please report it."""


class Crashed(BaseException):
    """This life of the actor is over. Not an error, and nothing can be awaited after it."""


class Cancelled(BaseException):
    """Another task of the same actor cancelled this one."""


class Overrun(BaseException):
    """The Run is ended from outside: raised by the watchdog in an actor that never yields."""
