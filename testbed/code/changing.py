"""Changing: which objects can change after they were made, told by their class."""

from __future__ import annotations

from typing import Any

import attrs


def is_frozen(kind: type) -> bool:
    """Whether instances of a class refuse to be changed: frozen ones of attrs or of dataclasses."""
    params: Any = getattr(kind, "__dataclass_params__", None)
    if params is not None and params.frozen:
        return True
    return attrs.has(kind) and kind.__setattr__.__name__ == "_frozen_setattrs"
