"""Admission: what may be written, and what is written for it; the steps in their order."""

from __future__ import annotations

from typing import Any

from actors.apiserver import rules
from actors.apiserver.call import Call
from testbed.endpoint import Handler


def admit(call: Call, item: Any) -> Handler:
    """The new object as it is to be committed."""
    item = rules.begin(item)
    rules.check(item)
    return item
    yield


def admit_change(call: Call, new: Any, old: Any) -> Any:
    """The changed object as it is to be committed."""
    return new
