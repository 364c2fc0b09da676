"""Pick: how a scheduler breaks a tie; and the name of the plugin that preempts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

DEFAULT_PREEMPTION = "DefaultPreemption"
"""Kubernetes' name for the plugin that preempts, as statuses and rejections give it."""
Pick = Callable[[str, Sequence[str]], str]
"""Called with a purpose and some names: returns one of the names. The dullest one is first."""


def the_first(purpose: str, names: Sequence[str]) -> str:
    """Return the first name, the dullest."""
    return names[0]
