"""Names: which names and labels objects may have, and the names that the server generates."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

NAME_MAX, LABEL_MAX, PREFIX_MAX = 253, 63, 58
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Without vowels, so that no word comes out by chance."""
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")

NOT_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
    " and must start and end with an alphanumeric character"
)
NOT_KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"
    " with an alphanumeric character"
)
NOT_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character"
)


def generated(prefix: str, creator: str, ordinal: int) -> str:
    """A name with that prefix; the same creator and ordinal always get the same one (API-9)."""
    given = f"{creator}/{prefix}/{ordinal}".encode()
    number = int.from_bytes(hashlib.sha256(given).digest()[:8], "big")
    letters = ""
    for _ in range(5):
        number, place = divmod(number, len(ALPHABET))
        letters += ALPHABET[place]
    return f"{prefix[:PREFIX_MAX]}{letters}"


def wrong_in_name(name: str) -> str:
    """What is wrong with the name of an object, or an empty text (API-10)."""
    if len(name) > NAME_MAX:
        return f"must be no more than {NAME_MAX} characters"
    return "" if _SUBDOMAIN.fullmatch(name) else NOT_SUBDOMAIN


def wrong_in_labels(labels: Mapping[str, str]) -> str:
    """What is wrong with the first wrong label, or an empty text (API-10)."""
    for key, value in labels.items():
        prefix, slash, name = key.rpartition("/")
        if slash and (len(prefix) > NAME_MAX or not _SUBDOMAIN.fullmatch(prefix)):
            return f'Invalid value: "{key}": prefix part {NOT_SUBDOMAIN}'
        if len(name) > LABEL_MAX:
            return f'Invalid value: "{key}": name part must be no more than {LABEL_MAX} characters'
        if not _QUALIFIED.fullmatch(name):
            return f'Invalid value: "{key}": {NOT_KEY}'
        if len(value) > LABEL_MAX:
            return f'Invalid value: "{value}": must be no more than {LABEL_MAX} characters'
        if value and not _QUALIFIED.fullmatch(value):
            return f'Invalid value: "{value}": {NOT_VALUE}'
    return ""
