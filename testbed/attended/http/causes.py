"""Causes: what is wrong with an object, field by field, as clients read it.

kubectl shows nothing of the message of an Invalid, and only its causes.
"""

from __future__ import annotations

import re

REASONS = {
    "Duplicate value": "FieldValueDuplicate",
    "Forbidden": "FieldValueForbidden",
    "Invalid value": "FieldValueInvalid",
    "Not found": "FieldValueNotFound",
    "Required value": "FieldValueRequired",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
    "Unsupported value": "FieldValueNotSupported",
}
"""By how the message of a cause begins, what Kubernetes calls it."""
_SAID = re.compile(r'[\w.]+ "(?P<name>[^"]*)" is invalid: (?P<wrongs>.*)', re.DOTALL)
_BETWEEN = re.compile(rf", (?=\S+: (?:{'|'.join(REASONS)}))")


def name_in(message: str) -> str:
    """The name of the object that an Invalid is about; empty if it says none."""
    said = _SAID.fullmatch(message)
    return "" if said is None else said["name"]


def causes_in(message: str) -> list[dict[str, str]]:
    """The causes that an Invalid names in its message: `Pod "p" is invalid: [spec: Forbidden: …]`;
    none if it is about no object."""
    said = _SAID.fullmatch(message)
    if said is None:
        return []
    wrongs = said["wrongs"]
    if wrongs.startswith("[") and wrongs.endswith("]"):
        return [_cause(wrong) for wrong in _BETWEEN.split(wrongs[1:-1])]
    return [_cause(wrongs)]


def _cause(wrong: str) -> dict[str, str]:
    field, _, why = wrong.partition(": ")
    reason = next((word for start, word in REASONS.items() if why.startswith(start)), "")
    found = {"reason": reason, "message": why or wrong, "field": field if why else ""}
    return {name: value for name, value in found.items() if value}
