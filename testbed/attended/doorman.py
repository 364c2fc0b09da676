"""Doorman: attends to real programs during a Run, so that one thing happens at a time.

Between two turns of the World it

1. starts, kills and stops programs, as the lives that they stand for say;
2. waits until all programs have digested what was written to them;
3. looks at the connections, and answers what needs no World, such as discovery;
4. lets join what has arrived meanwhile, sorted by who asks and what;
5. lets the World go on if something is due, or waits for what comes first: a request, or the time.

A program that starts is waited for until it has asked something and is quiet. So programs start one
after another, in the order of their `start` Options, and time begins when the last has started.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Collection
from math import inf
from time import monotonic

from testbed.attended.arrivals import Arrivals
from testbed.attended.door import Door
from testbed.attended.overheard import Overheard
from testbed.attended.program import standing_for
from testbed.attended.quiet import Digesting
from testbed.attended.troupe import Troupe
from testbed.attended.wall_times import Pacer, WallTimes
from testbed.client.actor import Actor
from testbed.errors import ScenarioError
from testbed.store.store_endpoint import READS
from testbed.turns.head import Waiter
from testbed.words import counted
from testbed.world.attendance import Attendance, Standing
from testbed.world.gate import Gate

NAP_S = 0.25
"""The longest that it waits before it looks again, so that Ctrl-C is heeded."""


class Doorman(Attendance, Waiter):
    """Attends to the programs of one Run, over HTTP."""

    def __init__(
        self, troupe: Troupe, times: WallTimes | None = None, door: Door | None = None
    ) -> None:
        self.names: Collection[str] = frozenset(troupe.names)
        self.guests = troupe.guests
        self.troupe = troupe
        self.times = times or WallTimes()
        self.wait_s = 0.0
        self._gate: Gate
        self._pacer = Pacer(self.times.speed)
        self._quiet = Digesting(troupe, self.times)
        self._arrivals = Arrivals(troupe, self._quiet, door or Door())
        self._starting: dict[str, float] = {}
        """The programs that start, and since when."""
        self._absent = set(self.guests)
        """The guests whose life has not begun yet."""
        self._began_at = monotonic()
        self._overheard: dict[str, Overheard] = {}
        self._expired = 0
        """How often something held was let go after a silence."""

    # -- what the Play asks of it ---------------------------------------------------------------

    def program(self, actor: Actor) -> Actor:
        self.troupe.cast(actor)
        return standing_for(actor, self._start)

    def begin(self, gate: Gate) -> None:
        self._gate = gate
        self._arrivals.open(gate)
        self._began_at = monotonic()

    def attend(self, look: Callable[[], Standing]) -> Waiter | None:
        self._pacer.go_on()
        if self.guests:
            # They may never leave the World alone, and time passes all the same.
            self._pacer.wait()
        while True:
            self._obey(look)
            if self._gate.is_ending:
                return None
            is_quiet = self._quiet.is_reached(is_starting=bool(self._starting))
            # Only now: what a program has sent just before it came to rest has arrived by then. Who
            # comes before the World has begun waits at the door.
            if not self._absent:
                self._arrivals.take_in()
            is_stirred = self._quiet.is_stirred and not self._quiet.is_overrun
            if self.names and (is_stirred or not is_quiet):
                return self._wait(self._quiet.next_look_s)
            self._overhear()
            # What is asked goes before what is told. So a guest that asks without end would keep
            # all others from what they are to hear, unless all that is due is done first.
            moment = look()
            is_at_door = not (self.guests and moment.is_due) and self._until_s(moment) > 0
            if is_at_door and self._let_join(look):
                continue
            moment = look()
            if moment.is_over:
                return None
            if self._has_come(moment):
                continue
            left_s = self._began_at + self.times.limit_s - monotonic()
            if left_s <= 0:
                self._gate.stop(f"limit_s: {self.times.limit_s:g} s of the wall have passed")
                return None
            wait_s = self._after_starts_s(moment) if self._starting else self._due_s(moment)
            if wait_s <= 0:
                self._pacer.settle(moment.now_ms, None if self.guests else moment.next_due_ms)
                self._expired += moment.is_rest and moment.has_held
                return None
            if not self._starting:
                self._pacer.wait()
            return self._wait(min(wait_s, left_s, NAP_S, self._arrivals.listener.patience_s))

    @property
    def starting(self) -> Collection[str]:
        return self._starting.keys()

    @property
    def note(self) -> str:
        times = self.times
        said = [
            f"{name} was still at work {counted(seen, 'time')} after {times.digest_max_s:g} s."
            for name, seen in sorted(self._quiet.overruns.items())
        ]
        if self._expired:
            holds = counted(self._expired, "hold")
            said.append(f"{holds} expired after {times.silence_s:g} s of silence.")
        return " ".join(said)

    def close(self) -> None:
        # The programs first: one that still lives would complain of the lost connections.
        self.troupe.close()
        self._arrivals.close()

    # -- waiting --------------------------------------------------------------------------------

    def fileno(self) -> int:
        return self._arrivals.listener.fileno()

    def wait(self) -> None:
        select.select([self], [], [], self.wait_s)

    def _wait(self, wait_s: float) -> Waiter:
        self.wait_s = max(wait_s, 0.0)
        return self

    def _awaited_ms(self, moment: Standing) -> int | None:
        """The next moment that is awaited though no Option is due then: the end of a stall or of a
        partition of a program, or one at which the Chooser acts."""
        moments_ms = (self._gate.back_ms(self.names), moment.acts_ms)
        return min((each for each in moments_ms if each is not None), default=None)

    def _has_come(self, moment: Standing) -> bool:
        """Whether time has passed to such a moment, and nothing else is due before."""
        awaited_ms = self._awaited_ms(moment)
        if awaited_ms is None or self._pacer.until_s(awaited_ms) > 0:
            return False
        if moment.next_due_ms is not None and moment.next_due_ms < awaited_ms:
            return False
        self._pacer.settle(awaited_ms, awaited_ms)
        self._gate.pass_to(awaited_ms)
        # It was not silent by itself: it may now do what it was kept from.
        self._arrivals.moved_at = monotonic()
        return True

    def _due_s(self, moment: Standing) -> float:
        """How long until the World may go on; nothing if it may do so now."""
        awaited_ms = self._awaited_ms(moment)
        dues_ms = [due for due in (moment.next_due_ms, awaited_ms) if due is not None]
        due_s = self._pacer.until_s(min(dues_ms)) if dues_ms else None
        if self.guests and due_s is None:
            return NAP_S
        if self.guests or not moment.is_rest or awaited_ms is not None:
            return 0.0 if due_s is None else due_s
        # At rest the World ends, or what is held is released: only after a silence, for it cannot
        # know what a program is about to do. If all of them have ended, there is none.
        if not self.troupe.running:
            return 0.0
        patience_s = self.times.silence_s if moment.has_held else self.times.quiet_s
        silent_s = min(self._arrivals.moved_at + patience_s - monotonic(), self._until_s(moment))
        return silent_s if due_s is None else min(silent_s, due_s)

    def _until_s(self, moment: Standing) -> float:
        """How long until the time up to which the Run is played."""
        return inf if moment.until_ms is None else self._pacer.until_s(moment.until_ms)

    def _after_starts_s(self, moment: Standing) -> float:
        """How long until the World may go on, while programs start. What such a program asks is
        answered at once; while it thinks nothing else moves."""
        for name in [*self._starting]:
            if name not in moment.in_flight and (wait_s := self._start_s(name)) > 0:
                return wait_s
        return self._due_s(moment)

    def _start_s(self, name: str) -> float:
        """How long that program still starts; nothing if it has started."""
        now, since = monotonic(), self._starting[name]
        left_s = since + self.times.start_max_s - now
        if name in self._arrivals.asking:
            quiet_s = max(since, self._quiet.stirred_at) + self.times.start_s - now
            if min(quiet_s, left_s) > 0:
                return min(quiet_s, left_s)
        elif left_s > 0:
            return left_s
        else:
            raise self._silent_error(name, f"it has asked nothing in {self.times.start_max_s:g} s")
        del self._starting[name]
        self._arrivals.moved_at = now
        return 0.0

    def _silent_error(self, name: str, what: str) -> ScenarioError:
        return ScenarioError(
            f"{name}: {what}: {self.troupe.command_of(name)}\n"
            f"Its last words: {self.troupe.last_words(name) or 'none'}\n"
            f"Next: mend what {self.troupe.output_of(name)} tells, and let it use the kubeconfig "
            "that the variable KUBECONFIG names."
        )

    # -- programs -------------------------------------------------------------------------------

    def _start(self, name: str) -> None:
        """Start a program; called in the turn in which its life begins. A guest comes by itself."""
        if name in self.guests:
            self._absent.discard(name)
            return
        if name not in self._overheard:
            self._overheard[name] = Overheard(self.troupe.output_of(name))
        self.troupe.start(name)
        self._starting[name] = monotonic()
        self._quiet.stir()

    def _obey(self, look: Callable[[], Standing]) -> None:
        """Do to the programs what the World has done to the lives that they stand for."""
        gate, troupe = self._gate, self.troupe
        for name in troupe.running:
            if not gate.is_up(name):
                troupe.kill(name)
                self._forget(name)
            elif (code := troupe.exit_code(name)) is not None:
                # It has ended without an answer to what it had sent; that was sent all the same.
                self._arrivals.take_in()
                self._let_join(look)
                if name not in self._arrivals.known:
                    raise self._silent_error(name, f"it has ended at once, with code {code}")
                self._overhear()
                said = f"exit code {code}: {troupe.last_words(name)}" if code else ""
                troupe.kill(name)
                gate.exit(name, said.removesuffix(": "))
                self._forget(name)
                return
            else:
                troupe.stop(name, gate.is_stalled(name))

    def _overhear(self) -> None:
        """Note what programs have written."""
        for name, overheard in sorted(self._overheard.items()):
            for line in overheard.lines():
                self._gate.say(name, line)

    def _forget(self, name: str) -> None:
        """Forget what a program has asked that is no more."""
        self._starting.pop(name, None)
        self._arrivals.forget(name)

    def _let_join(self, look: Callable[[], Standing]) -> bool:
        """Let join what has arrived; whether there was anything, or something has gone."""
        joined = self._arrivals.let_join(lambda: self._pass(look()))
        for call in joined or ():
            if call.counts and call.meant.operation.verb not in READS:
                # What it does now it does of its own accord, so it has started.
                self._starting.pop(call.name, None)
        return joined is not None

    def _pass(self, moment: Standing) -> None:
        """Let virtual time pass up to now, but not over what is due before."""
        now_ms = self._pacer.now_ms
        if moment.next_due_ms is not None:
            now_ms = min(now_ms, moment.next_due_ms)
        if now_ms > moment.now_ms:
            self._gate.pass_to(now_ms)
