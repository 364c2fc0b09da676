"""Arrivals: what programs have asked at the door, from when it has come until it is over.

A request is *on its way* while its program is cut off; then it has *arrived*; when it joins the
Run it becomes a task of its program's life; and it is over when it is answered, or given up by the
one side or the other. What needs no World, such as discovery, is answered at once.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

import attrs

from testbed.attended.calls import JSON_LINES, NEVER, OpenCall
from testbed.attended.door import Door
from testbed.attended.http.answers import refused
from testbed.attended.http.exchange import Exchange, HttpRequest
from testbed.attended.http.listener import Listener
from testbed.attended.http.meaning import Silence, ToWatch, meaning_of
from testbed.attended.http.reply import Reply
from testbed.attended.quiet import Digesting
from testbed.attended.troupe import Troupe
from testbed.errors import ApiError, ScenarioError
from testbed.world.gate import Gate


@attrs.define
class _Silent:
    """A watch of a kind that is not modelled: it is open, and tells nothing."""

    exchange: Exchange
    ends_at: float


def _end_of(watch: ToWatch | Silence, now: float) -> float:
    """When a watch that is opened now is over, by what was asked."""
    return NEVER if watch.timeout_s is None else now + watch.timeout_s


class Arrivals:
    """What the programs of one Run have asked. The door is open from `open` until `close`."""

    def __init__(self, troupe: Troupe, quiet: Digesting, door: Door) -> None:
        self._troupe = troupe
        self._quiet = quiet
        self._door = door
        self._gate: Gate
        self._listener: Listener | None = None
        self._calls: dict[OpenCall, None] = {}
        """What has joined and is not over."""
        self._arrived: list[OpenCall] = []
        """What has not joined yet."""
        self._on_its_way: list[tuple[str, Exchange]] = []
        """What a program has sent that is cut off."""
        self._silent: list[_Silent] = []
        self.asking: set[str] = set()
        """The programs that have asked something in this life."""
        self.known: set[str] = set()
        """The programs that have asked something in any."""
        self.moved_at = monotonic()
        """When something was last asked or written that ends a silence."""

    def open(self, gate: Gate) -> None:
        """Open the door, and write where it is into the kubeconfigs."""
        door = self._door
        self._gate = gate
        try:
            self._listener = Listener(
                door.hosts, door.port, limits=door.limits, knows=self._troupe.knows,
                on_refused=door.on_refused, on_dropped=self._drop,
            )  # fmt: skip
        except OSError as error:
            raise ScenarioError(
                f"no program can ask at {' and '.join(door.hosts)}, port {door.port or 'any'}: "
                f"{error.strerror or error}.\nNext: name another host, or no port."
            ) from error
        try:
            self._troupe.speak_to(self._listener.address)
        except ScenarioError:
            self.close()
            raise
        door.on_open(self._listener.address)
        self.moved_at = monotonic()

    def close(self) -> None:
        """Close the door, and cut what is not over."""
        if self._listener is None:
            return
        for call in (*self._calls, *self._arrived):
            call.cut()
        for silent in self._silent:
            silent.exchange.cut()
        self._listener.close()
        self._listener = None

    @property
    def listener(self) -> Listener:
        """Where programs ask; only while the door is open."""
        assert self._listener is not None
        return self._listener

    # -- what has come --------------------------------------------------------------------------

    def take_in(self) -> None:
        """Take in what has come, and answer what needs no World."""
        waiting, self._on_its_way = self._on_its_way, []
        for exchange in self.listener.poll(0.0):
            waiting.append((self._troupe.named(exchange.asked.token), exchange))
        for name, exchange in waiting:
            self._take(name, exchange)
        now = monotonic()
        for silent in [each for each in self._silent if each.ends_at <= now]:
            silent.exchange.end()
            self._silent.remove(silent)
        self._silent = [each for each in self._silent if not each.exchange.is_gone]

    def _take(self, name: str, exchange: Exchange) -> None:
        if not self._gate.is_up(name):
            exchange.cut()
            return
        self.asking.add(name)
        self.known.add(name)
        if self._gate.is_cut_off(name):
            # TCP sends it again until it arrives, so nobody learns that it has not.
            self._on_its_way.append((name, exchange))
            return
        self._quiet.stir()
        try:
            meant = meaning_of(exchange.asked, name)
        except ApiError as error:
            meant = refused(error, exchange.asked)
        self._door.on_asked(name, exchange.asked, meant)
        if isinstance(meant, Reply):
            exchange.answer(meant.code, meant.headers, meant.body)
        elif isinstance(meant, Silence):
            exchange.begin(200, JSON_LINES)
            self._silent.append(_Silent(exchange, _end_of(meant, monotonic())))
        else:
            self._arrived.append(OpenCall(name, exchange, meant, self._gate.now_ms, self._wrote))

    def _drop(self, request: HttpRequest, unread: int) -> None:
        self._door.on_dropped(self._troupe.named(request.token), request, unread)

    def _wrote(self, call: OpenCall) -> None:
        """Something was written to a program: it is to be digested."""
        self._quiet.stir()
        if call.is_over:
            self._calls.pop(call, None)
        if call.counts:
            self.moved_at = monotonic()

    # -- what joins -----------------------------------------------------------------------------

    def let_join(self, pass_time: Callable[[], None]) -> list[OpenCall] | None:
        """Let join what has arrived, and leave what has gone, when time has passed up to now.
        Returns what has joined, or None if there was nothing at all."""
        now = monotonic()
        gone = [call for call in self._calls if call.ends_at <= now or call.exchange.is_gone]
        gone = [call for call in gone if not self._gate.is_cut_off(call.name)]
        if not gone and not self._arrived:
            return None
        pass_time()
        for call in sorted(gone, key=lambda call: call.path):
            self._gate.leave(call.path)
            call.end(None)
        joined, self._arrived = sorted(self._arrived, key=lambda call: call.place), []
        for call in joined:
            if isinstance(call.meant, ToWatch):
                call.ends_at = _end_of(call.meant, now)
            call.path = self._gate.join(call.name, call.meant.operation, call)
            self._calls[call] = None
            if call.counts:
                self.moved_at = now
        return joined

    def forget(self, name: str) -> None:
        """Forget what a program has asked whose life has ended."""
        for call in [call for call in (*self._calls, *self._arrived) if call.name == name]:
            call.cut()
        for exchange in [exchange for each, exchange in self._on_its_way if each == name]:
            exchange.cut()
        self._arrived = [call for call in self._arrived if call.name != name]
        self._on_its_way = [each for each in self._on_its_way if each[0] != name]
        self.asking.discard(name)
        self.moved_at = monotonic()
