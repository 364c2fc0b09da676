"""Status: the body of an answer that refuses, as Kubernetes writes it; and what cannot be read."""

from __future__ import annotations

import json
from http import HTTPStatus

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    405: "MethodNotAllowed",
    408: "Timeout",
    413: "RequestEntityTooLarge",
    414: "RequestEntityTooLarge",
    429: "TooManyRequests",
    431: "RequestEntityTooLarge",
}
"""As `metav1.StatusReason` spells them; a code that it does not know has an empty one."""


def status(code: int, reason: str, message: str) -> bytes:
    """A Status object that says why a request failed, as JSON."""
    said = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return json.dumps(said, separators=(",", ":")).encode()


def phrase(code: int) -> str:
    """What HTTP calls that code: `Not Found`; empty if it has no name for it."""
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return ""


class RequestRefused(Exception):
    """A request that never becomes an HttpRequest: the listener answers it and hangs up."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def reason(self) -> str:
        """Kubernetes' word for its code."""
        return REASONS.get(self.code, "")
