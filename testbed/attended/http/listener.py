"""Listener: where programs connect; it accepts, reads and writes when it is polled, and never else.

There is no thread and no loop here, so the one who polls decides when anything is read; and what is
answered is written at once, so the one who answers decides when anything is written.
"""

from __future__ import annotations

import errno
import selectors
import socket
from collections.abc import Callable
from time import monotonic

from testbed.attended.http.channel import NEVER, READ, Arrival, Channel, ChannelOwner
from testbed.attended.http.exchange import Exchange, HttpRequest
from testbed.attended.http.limits import HttpLimits
from testbed.attended.http.status import RequestRefused

BACKLOG = 256
LOOKS_MAX = 16
"""In one poll: who always sends more does not keep it for ever."""
TRIES_MAX = 16
"""To find a port that is free on every host."""
_IS_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def _nothing(*_: object) -> None:
    pass


class Listener(ChannelOwner):
    """The one port of a Run at which programs ask, on every host that this machine has of `hosts`.

    `knows` says whether a bearer token is one of ours; without it everybody may come in. Each
    request that is refused here, and not handed out, is told to `on_refused` by code and message;
    each that is cut because its program does not read is told to `on_dropped`, with how many bytes
    had to wait for it.
    """

    def __init__(
        self,
        hosts: tuple[str, ...] = ("127.0.0.1", "::1"),
        port: int = 0,
        *,
        limits: HttpLimits | None = None,
        knows: Callable[[str], bool] | None = None,
        on_refused: Callable[[int, str], None] = _nothing,
        on_dropped: Callable[[HttpRequest, int], None] = _nothing,
    ) -> None:
        self._limits = limits or HttpLimits()
        self._knows = knows
        self._on_refused = on_refused
        self._on_dropped = on_dropped
        self._sockets = _bind(hosts, port)
        self._selector = selectors.DefaultSelector()
        self._channels: dict[Channel, int] = {}
        """Every open connection, and what the selector waits for on it."""
        self._arrived: list[Exchange] = []
        self._unsent = 0
        """How many bytes wait until programs read, in all."""
        self._soonest = NEVER
        """No deadline is before this."""
        self._is_accepting = False
        self._accept_again()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts it listens at: all that it was given, but for those this machine has not."""
        return tuple(listening.getsockname()[0] for listening in self._sockets)

    @property
    def port(self) -> int:
        """The port, the same on each host."""
        return int(self._sockets[0].getsockname()[1])

    @property
    def address(self) -> str:
        """Where a program finds it, as a URL."""
        host = self.hosts[0]
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._channels)

    def fileno(self) -> int:
        """The selector's own descriptor: readable when `poll` has something to do. Deadlines do not
        show in it; see `patience_s`."""
        return self._selector.fileno()

    @property
    def patience_s(self) -> float:
        """How long it may be left alone until it is polled next, if nothing arrives; infinite if
        there is no deadline."""
        return max(0.0, self._soonest - monotonic())

    def poll(self, timeout_s: float) -> list[Exchange]:
        """The requests that have become whole, in the order of their arrival.

        It waits so long for anything to happen, and then takes all that is there. What happens need
        not be a request, so the list may be empty before the time is over.
        """
        timeout_s = max(0.0, min(timeout_s, self._soonest - monotonic()))
        looks = 0
        while self._look(timeout_s) and looks < LOOKS_MAX:
            timeout_s, looks = 0.0, looks + 1
        arrived, self._arrived = self._arrived, []
        return arrived

    def close(self) -> None:
        """Close every connection, and the port. It may be closed twice."""
        for channel in tuple(self._channels):
            channel.close()
        self._selector.close()
        for listening in self._sockets:
            listening.close()

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def heed(self, channel: Channel) -> None:
        if channel.is_closed:
            return
        self._soonest = min(self._soonest, channel.deadline)
        before, events = self._channels[channel], channel.events
        if events != before:
            if not before:
                self._selector.register(channel.socket, events, channel)
            elif not events:
                self._selector.unregister(channel.socket)
            else:
                self._selector.modify(channel.socket, events, channel)
            self._channels[channel] = events

    def arrived(self, exchange: Arrival) -> None:
        self._arrived.append(exchange)

    def refused(self, code: int, message: str) -> None:
        self._on_refused(code, message)

    def weigh(self, channel: Channel, change: int) -> None:
        self._unsent += change
        most = self._limits.unsent_total_max
        while self._unsent > most:
            answers = [each.unsent for each in self._channels if not each.is_watched]
            if self._unsent - max(answers, default=0) <= most:
                break
            self.drop(max(self._channels, key=_slowness))

    def drop(self, channel: Channel) -> None:
        if channel.last is not None:
            self._on_dropped(channel.last, channel.unsent)
        channel.close()

    def forget(self, channel: Channel) -> None:
        if self._channels.pop(channel, 0):
            self._selector.unregister(channel.socket)
        if not self._is_accepting:
            self._accept_again()

    def _look(self, timeout_s: float) -> bool:
        """Wait so long, and do what is to be done; whether there was anything."""
        events = self._selector.select(timeout_s)
        now, connecting = monotonic(), list[socket.socket]()
        for key, mask in events:
            channel = key.data
            if channel is None:
                connecting.append(key.fileobj)  # type: ignore[arg-type]
                continue
            if mask & ~READ:
                channel.on_writable(now)
            if mask & READ and not channel.is_closed:
                channel.on_readable(now)
        # Who is here comes first: one that has asked meanwhile is not idle any more.
        for listening in connecting:
            self._accept(listening, now)
        if now >= self._soonest:
            self._end_late(now)
        return bool(events)

    def _accept(self, listening: socket.socket, now: float) -> None:
        while True:
            try:
                sock, _ = listening.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _IS_FULL and not self._evict_idle():
                    self._accept_no_more(error)
                    return
                continue
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            has_room = self._make_room()
            channel = Channel(sock, self._knows, self._limits, self)
            self._channels[channel] = 0
            if has_room:
                channel.on_readable(now)
            else:
                most = self._limits.connections_max
                channel.refuse(RequestRefused(429, f"{most} connections are open, and busy"), now)
            self.heed(channel)

    def _make_room(self) -> bool:
        """Whether one connection more may be open, if need be in place of an idle one, or of a
        stranger's."""
        strangers = [channel for channel in self._channels if channel.is_stranger]
        if len(strangers) >= self._limits.strangers_max:
            min(strangers, key=lambda channel: not channel.is_idle).close()
        while len(self._channels) >= self._limits.connections_max:
            if not (self._evict_idle() or self._evict_stranger()):
                return False
        return True

    def _evict_stranger(self) -> bool:
        """Close the oldest connection that has shown no token; whether there was one."""
        oldest = next((channel for channel in self._channels if channel.is_stranger), None)
        if oldest is not None:
            oldest.close()
        return oldest is not None

    def _evict_idle(self) -> bool:
        """Close the connection that was idle longest; whether there was one."""
        idle = min(
            (channel for channel in self._channels if channel.is_idle),
            key=lambda channel: channel.deadline,
            default=None,
        )
        if idle is not None:
            idle.close()
        return idle is not None

    def _accept_again(self) -> None:
        for listening in self._sockets:
            self._selector.register(listening, READ)
        self._is_accepting = True

    def _accept_no_more(self, error: OSError) -> None:
        """Accept nobody until a connection is closed: there is no descriptor left."""
        if not self._channels:
            raise error
        for listening in self._sockets:
            self._selector.unregister(listening)
        self._is_accepting = False

    def _end_late(self, now: float) -> None:
        for channel in tuple(self._channels):
            if channel.deadline <= now:
                channel.on_late(now)
        self._soonest = min((channel.deadline for channel in self._channels), default=NEVER)


def _slowness(channel: Channel) -> tuple[int, int]:
    """How much waits for its program. A watch comes first: it is resumed from where it was, and an
    answer has to be asked for again."""
    return channel.unsent if channel.is_watched else 0, channel.unsent


def _bind(hosts: tuple[str, ...], port: int) -> list[socket.socket]:
    """A listening socket on each host that this machine has, all on one port."""
    for _ in range(TRIES_MAX):
        found: list[socket.socket] = []
        try:
            for host in hosts:
                taken = found[0].getsockname()[1] if found else port
                if listening := _listening(host, taken):
                    found.append(listening)
        except OSError as error:
            for listening in found:
                listening.close()
            if port or not found or error.errno != errno.EADDRINUSE:
                raise
        else:
            if not found:
                raise OSError(errno.EADDRNOTAVAIL, f"this machine has none of {', '.join(hosts)}")
            return found
    raise OSError(errno.EADDRINUSE, f"no port is free on all of {', '.join(hosts)}")


def _listening(host: str, port: int) -> socket.socket | None:
    """A socket that listens there; None if this machine has no such host."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT:
            return None
        raise
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRNOTAVAIL:
            return None
        if error.errno == errno.EADDRINUSE:
            text = f"port {port} of {host} is taken. Next: port 0 finds one that is free"
            raise OSError(errno.EADDRINUSE, text) from None
        raise
    return listening
