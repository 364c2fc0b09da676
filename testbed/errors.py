"""Every exception of the project, in three families that never mix.

    Exception
     ├─ ApiError              what an actor must survive: an answer that is a refusal
     │   ├─ BadRequest        400  the request cannot be read
     │   ├─ Forbidden         403  admission rejected it
     │   ├─ NotFound          404  there is no such object
     │   ├─ MethodNotAllowed  405  that cannot be done to what the request names
     │   ├─ NotAcceptable     406  there is no answer of a form that the request takes
     │   ├─ AlreadyExists     409  the name is taken
     │   ├─ Conflict          409  the object has changed, or a precondition failed
     │   ├─ Expired           410  that part of the history is compacted
     │   ├─ TooLarge          413  the request asks for more than a server makes of one
     │   ├─ UnsupportedMedia  415  the body is of a form that cannot be read
     │   ├─ Invalid           422  the request makes no sense
     │   ├─ TooManyRequests   429  not now; it may succeed later
     │   ├─ InternalError     500  refused by an injected fault, without effect
     │   └─ Unavailable       503  no answer; the operation may or may not have taken effect
     │       ├─ TimedOut           the caller's own deadline passed first
     │       └─ WatchBroken        a watch was closed; resume it from the last revision seen
     └─ HarnessError          what a person must mend; its text says what, where, and the next step
         ├─ UnknownName            nothing has that name; its text suggests the nearest one
         ├─ ScenarioError          a scenario or an actor broke a rule of the World
         │   └─ PackageHidden      a folder has the name of a package of ours (an ImportError, too)
         ├─ RaceRefused            a race file that cannot be read, or says the impossible
         ├─ ManifestRefused        a manifest with mistakes
         ├─ TraceRefused           a trace that is cut short, edited, or of another format
         ├─ LedgerRefused          the file of another search, or no such file at all
         ├─ SystemRefused          no room, no descriptor, no folder: what the system does not give
         ├─ ReplayDiverged         the same choices led to another Run
         └─ HarnessBug             a bug of the testbed; please report it

    BaseException
     ├─ Crashed               this life of the actor is over (not an error, like trio's Cancelled)
     ├─ Cancelled             another task of the same actor cancelled this one
     └─ Overrun               the watchdog ends the Run: a turn took too long

A Violation is none of these: it is a value (see `invariant.py`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar


class ApiError(Exception):
    """An answer that is a refusal, with the HTTP code and reason that Kubernetes sends for it."""

    code: ClassVar[int] = 500
    reason: ClassVar[str] = "InternalError"

    def __init__(
        self, message: object = "", *, retry_after_s: int = 0, causes: tuple[str, ...] = ()
    ) -> None:
        """The message is a text, or a `Numbered` one if it holds numbers of the Store."""
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """How long to wait before the next try; 0 if the Endpoint names no time."""
        self.causes = causes
        """Further reasons, each as one word or line."""


class BadRequest(ApiError):
    """The request cannot be read."""

    code = 400
    reason = "BadRequest"


class Forbidden(ApiError):
    """The request can be read, but admission rejected it."""

    code = 403
    reason = "Forbidden"


class NotFound(ApiError):
    """There is no such object."""

    code = 404
    reason = "NotFound"


class MethodNotAllowed(ApiError):
    """That cannot be done to what the request names."""

    code = 405
    reason = "MethodNotAllowed"


class NotAcceptable(ApiError):
    """There is no answer of a form that the request takes."""

    code = 406
    reason = "NotAcceptable"


class AlreadyExists(ApiError):
    """The name is taken."""

    code = 409
    reason = "AlreadyExists"


class Conflict(ApiError):
    """The object has changed since it was read, or a precondition failed."""

    code = 409
    reason = "Conflict"


class Expired(ApiError):
    """That part of the history is compacted; list again."""

    code = 410
    reason = "Expired"


class TooLarge(ApiError):
    """The request asks for more than a server makes of one."""

    code = 413
    reason = "RequestEntityTooLarge"


class UnsupportedMedia(ApiError):
    """The body is of a form that cannot be read."""

    code = 415
    reason = "UnsupportedMediaType"


class Invalid(ApiError):
    """The request makes no sense to its Endpoint."""

    code = 422
    reason = "Invalid"


class TooManyRequests(ApiError):
    """The Endpoint will not do it now, but may do it later."""

    code = 429
    reason = "TooManyRequests"


class InternalError(ApiError):
    """The Endpoint refused, without effect: because of a fault, or because it cannot decide."""

    reason = "InternalError"


class Unavailable(ApiError):
    """No answer came. The Operation may or may not have taken effect: look before you retry."""

    code = 503
    reason = "ServiceUnavailable"


CONNECTION_LOST = "connection lost"
"""Among the `causes` of an Unavailable: the connection was lost before the answer came. Kubernetes
clients that retry after a 503 do not retry after this."""


class TimedOut(Unavailable):
    """The caller's own deadline passed before the answer came."""

    code = 504
    reason = "Timeout"


class WatchBroken(Unavailable):
    """A watch was closed. Resume it from the last revision seen, and nothing is lost."""


class HarnessError(Exception):
    """Something a person must mend. Its text says what happened, the evidence, the next step."""


class UnknownName(HarnessError):
    """Nothing has that name. The text suggests the nearest name and lists all."""

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


SHOWN_MAX = 60
"""The most characters of a wrong value that an error shows."""


def shown(value: object) -> str:
    """A value that was given by mistake, in words that are short and the same in every process."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = getattr(value, "__qualname__", None)
    if callable(value) and isinstance(name, str):
        return f"the function {name.rpartition('<locals>.')[2]}"
    said = repr(value) if _is_plain(value) else ""
    if isinstance(value, str) and len(said) > SHOWN_MAX:
        return f"{said[:SHOWN_MAX]}…"
    return said if 0 < len(said) <= SHOWN_MAX else f"{type(value).__name__}(…)"


def _is_plain(value: object) -> bool:
    """Whether it has no parts but plain ones: a set has no order, and an object has an address."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(part) for item in value.items() for part in item)
    return value is None or isinstance(value, str | int | float)


class ScenarioError(HarnessError):
    """A scenario or an actor broke a rule of the World."""


class PackageHidden(ScenarioError, ImportError):
    """A folder has the name of a package of the testbed, and one of them hides the other."""


class RaceRefused(HarnessError):
    """A race file that cannot be read, or that says something impossible."""


class ManifestRefused(HarnessError):
    """Manifests with mistakes; the text lists them all."""


class TraceRefused(HarnessError):
    """A trace that cannot be trusted: it is cut short, edited, or of another format."""


class LedgerRefused(HarnessError):
    """A search cannot use this file: it is of another search, in use, or no such file at all."""


class SystemRefused(HarnessError):
    """The operating system does not give what a command needs: room, a descriptor, a folder."""


class ReplayDiverged(HarnessError):
    """The same choices led to another Run: something outside the World decided."""


class HarnessBug(HarnessError):
    """The testbed broke a rule of its own. Please report it."""


class Crashed(BaseException):
    """This life of the actor is over. It is not an error, and nothing can be awaited after it."""


class Cancelled(BaseException):
    """Another task of the same actor cancelled this one."""


class Overrun(BaseException):
    """The watchdog ends the Run: it raises this in an actor whose turn never ends."""
