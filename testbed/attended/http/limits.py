"""HttpLimits: how much of everything a program may ask of the listener; nothing is unbounded."""

from __future__ import annotations

import attrs


@attrs.frozen
class HttpLimits:
    """The limits of one Listener. What breaks one is refused, or its connection is closed."""

    head_bytes_max: int = 64 * 1024
    """Of one request line with its headers."""
    body_bytes_max: int = 3 * 1024 * 1024
    """Of one request, as Kubernetes has it."""
    ahead_bytes_max: int = 64 * 1024
    """How much of the next requests is read while one is being answered; more waits in the
    kernel, so that in the end the program waits."""
    unsent_bytes_max: int = 8 * 1024 * 1024
    """Of a watch, by a program that does not read its lines; then its connection is cut."""
    unsent_total_max: int = 256 * 1024 * 1024
    """Of all that programs do not read; then the slowest is cut: the watch with most of it, or
    else such an answer. The largest answer does not count, for it may be a list of everything."""
    connections_max: int = 512
    """Open at once. For one more the connection that was idle longest is closed; if none is, the
    newest is refused."""
    strangers_max: int = 128
    """How many of these have not shown a token yet. For one more the oldest is closed: of those
    that have sent nothing, if there is one."""
    head_s: float = 32.0
    """From the first byte of a request until it is whole."""
    idle_s: float = 180.0
    """Without a request; clients in Go close theirs after 90. Also how long an answer may stay
    where it is because the program takes no byte of it."""
    linger_s: float = 1.0
    """How long a refused program may still go on sending before it reads the refusal."""
