"""Door: where programs ask during one Run, and who is told of what happens there."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.limits import HttpLimits
from testbed.attended.http.meaning import Meaning


def _nothing(*_: object) -> None:
    pass


@attrs.frozen
class Door:
    """Where programs ask. Whoever is told does nothing to the Run: it is the same without."""

    hosts: tuple[str, ...] = ("127.0.0.1", "::1")
    """Those of this machine; of the others the program finds the first one in its kubeconfig."""
    port: int = 0
    """0: any that is free."""
    limits: HttpLimits = attrs.field(factory=HttpLimits)
    on_open: Callable[[str], None] = _nothing
    """Told the address, when it is open and the kubeconfigs are written."""
    on_asked: Callable[[str, HttpRequest, Meaning], None] = _nothing
    """Told of each request: which program asks, what, and what that means."""
    on_refused: Callable[[int, str], None] = _nothing
    """Told of what never becomes a request, by code and message: it had no token, or no form."""
    on_dropped: Callable[[str, HttpRequest, int], None] = _nothing
    """Told of each request that is cut because its program does not read: whose it is, and how many
    bytes waited for it."""
