"""Tokens: which tokens are known, and how one stands before a path.

Programs of Go's client send no bearer token unless the connection is encrypted, and say nothing of
it. So the URL in a kubeconfig has the token as the beginning of its path.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable

BEFORE_PATH = "/as/"
"""What stands before the token, if the token stands before the path."""


def path_of(token: str) -> str:
    """What stands before every path that the program with this token asks for."""
    return f"{BEFORE_PATH}{token}"


def split(target: bytes) -> tuple[str, bytes]:
    """The token before that path, or an empty one; and the path without it."""
    before = BEFORE_PATH.encode()
    if not target.startswith(before):
        return "", target
    token, _, rest = target.removeprefix(before).partition(b"/")
    return token.decode("latin-1"), b"/" + rest


def known(tokens: Iterable[str]) -> Callable[[str], bool]:
    """A function that says whether a token is one of these.

    It compares with all of them, each in constant time: how long it takes tells nothing of any.
    """
    kept = tuple(token.encode() for token in tokens if token)

    def knows(token: str) -> bool:
        asked = token.encode()
        return sum(hmac.compare_digest(asked, each) for each in kept) > 0

    return knows
