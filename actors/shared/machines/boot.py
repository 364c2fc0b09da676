"""Boot: how a new machine of a provider comes up, or fails to."""

from __future__ import annotations

import attrs

from actors.shared.node_groups import OUT_OF_RESOURCES
from actors.shared.settings import at_least


@attrs.frozen
class Boot:
    """How a new machine comes up. Times count from the request for it."""

    register_ms: int | None = attrs.field(default=60_000, validator=at_least(0, or_none=True))
    """When it has a Node object; None: never."""
    ready_ms: int | None = attrs.field(default=None, validator=at_least(0))
    """When that is Ready; None: as soon as it is there."""
    stays_unready: bool = False
    """Whether its Node never is Ready."""
    error_ms: int | None = attrs.field(default=None, validator=at_least(0))
    """When the provider says that it cannot create it; None: it never says so."""
    error_class: str = OUT_OF_RESOURCES
    """The class of that error."""
    error_code: str = "QUOTA_EXCEEDED"
    """The error in one word."""
    error_message: str = ""
    """The error in a sentence."""
    only: int | None = attrs.field(default=None, validator=at_least(0))
    """Only machines with numbers up to this in their names come up like this, others never do.
    None: all do."""


AT_ONCE = Boot(0)
"""A machine that is a Ready Node as soon as it is asked for."""
LOST = Boot(register_ms=None)
"""A machine that never becomes a Node, and of which no error is told."""
