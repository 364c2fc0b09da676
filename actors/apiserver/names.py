"""Names: the names that the server generates."""

from __future__ import annotations

import hashlib

PREFIX_MAX = 58
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Without vowels, so that no word comes out by chance."""


def generated(prefix: str, creator: str, ordinal: int) -> str:
    """A name with that prefix; the same creator and ordinal always get the same one (API-9)."""
    given = f"{creator}/{prefix}/{ordinal}".encode()
    number = int.from_bytes(hashlib.sha256(given).digest()[:8], "big")
    letters = ""
    for _ in range(5):
        number, place = divmod(number, len(ALPHABET))
        letters += ALPHABET[place]
    return f"{prefix[:PREFIX_MAX]}{letters}"
