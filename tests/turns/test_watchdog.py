"""The watchdog ends from outside what cannot end itself; and Ctrl-C ends anything, soon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.errors import ScenarioError
from testbed.invariant import TURN, Evidence, Invariant
from testbed.turns import watchdog
from testbed.turns.head import Waiter
from testbed.turns.pending import Alternatives, Options
from testbed.turns.recorded import load
from testbed.turns.session import play_all
from testbed.turns.table import Table
from testbed.turns.trace import Step, Trace
from testbed.turns.watchdog import Watchdog
from testbed.world.attendance import Attendance, Standing
from testbed.world.gate import Gate
from testbed.world.world import World
from tests.shared.stage import Doing, note, world_of

DRIVERS = ("trio", "direct")
both_drivers = pytest.mark.parametrize("driver", DRIVERS)
HANDLERS = (signal.SIGALRM, signal.SIGINT)
FUSE_S = 300
"""For what hangs; nothing here is measured by the wall."""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A turn may spend 0.2 s and hang for 2; afterwards every signal, timer and tracer is as it
    was."""
    monkeypatch.setattr(watchdog, "SECONDS", 0.2)
    monkeypatch.setattr(watchdog, "HANGS_S", 2.0)
    monkeypatch.setattr(watchdog, "PATIENCE_S", 0.05)
    before = [signal.getsignal(number) for number in HANDLERS], sys.gettrace()
    yield
    assert ([signal.getsignal(number) for number in HANDLERS], sys.gettrace()) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


async def ticks(client: Client) -> None:
    """Lets time pass, and rests."""
    for _ in range(3):
        await client.sleep(1)
    await client.queue(idle=True).get()


# -- who never yields ---------------------------------------------------------------------------


async def spins(client: Client) -> None:
    """Never comes back."""
    await client.sleep(2)
    while True:
        pass


async def blocks(client: Client) -> None:
    """Waits in the machine's time."""
    await client.sleep(2)
    time.sleep(60)


async def swallows(client: Client) -> None:
    """Catches whatever is raised in it, and goes on."""
    await client.sleep(2)
    while True:
        try:
            sum(range(1000))
        except BaseException:  # noqa: BLE001
            continue


async def suppresses(client: Client) -> None:
    """The same by a context manager, within a function it calls."""
    await client.sleep(2)

    def spin() -> None:
        while True:
            with suppress(BaseException):
                client.record("still here")

    spin()


@pytest.mark.parametrize(
    ("driver", "main"),
    [
        ("trio", spins), ("direct", spins), ("trio", blocks), ("direct", swallows),
        ("trio", swallows), ("direct", suppresses),
    ],
)  # fmt: skip
def test_an_actor_that_never_yields_is_ended(driver: str, main: Doing) -> None:
    """The Run is Undecided, and says who and after which turn; the next one in the same session is
    as if nothing had been."""
    bad, good = world_of(alpha=main, beta=ticks), world_of(beta=ticks)
    for world in (bad, good):
        assert world.prepare(Calm(), trace=Trace({}, keep=True))
    play_all([bad, good], driver=driver)
    assert bad.verdict is not None
    assert (bad.verdict.outcome, bad.verdict.end) == (
        "undecided", "alpha did not yield after turn 5",
    )  # fmt: skip
    assert bad.trace.end is not None
    assert bad.trace.end["end"] == "alpha did not yield after turn 5"
    assert good.verdict is not None
    assert good.verdict.is_held


def test_a_slow_turn_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as each turn is over in time, the Run may take as long as it likes; and a turn that
    waits for a processor has not spent any."""
    monkeypatch.setattr(watchdog, "SECONDS", 0.5)
    monkeypatch.setattr(watchdog, "HANGS_S", 60.0)

    async def slow(client: Client) -> None:
        for _ in range(3):
            begun_s = time.thread_time()
            while time.thread_time() - begun_s < 0.3:
                pass
            await client.sleep(1)
        time.sleep(1.0)

    assert world_of(alpha=slow).run(Calm()).is_held


def test_a_task_that_spins_in_trio_is_ended() -> None:
    """It never lets go of trio's loop; trio itself survives it, and so does the session."""

    async def main(client: Client) -> None:
        with trio.CancelScope(shield=True):
            while True:
                with suppress(BaseException):
                    await trio.lowlevel.checkpoint()

    with pytest.raises(ScenarioError, match="alpha/main awaited something that is not the World's"):
        world_of(alpha=main, beta=ticks).run(Calm())
    assert world_of(beta=ticks).run(Calm()).is_held


def test_a_task_that_waits_for_a_thread_is_let_go() -> None:
    """Nothing can interrupt that wait: the others are let go first, and the Run ends when it is
    over; trio and the next Run are none the worse for it."""

    async def main(client: Client) -> None:
        await client.sleep(1)
        await trio.to_thread.run_sync(time.sleep, 0.8)

    with pytest.raises(ScenarioError, match="alpha/main awaited something that is not the World's"):
        world_of(alpha=main, beta=ticks, gamma=ticks).run(Calm())
    assert world_of(beta=ticks).run(Calm()).is_held


def test_a_tracer_is_given_back_its_thread() -> None:
    """To raise where it is not caught the watchdog traces; a debugger, or whoever counts the lines
    that were run, goes on afterwards."""

    def trace(*_: object) -> None:
        """Looks at nothing."""

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        verdict = world_of(alpha=swallows).run(Calm(), driver="direct")
        after = sys.gettrace()
    finally:
        sys.settrace(before)
    assert verdict.end == "alpha did not yield after turn 2"
    assert after is trace


@both_drivers
def test_who_spins_when_it_is_told_to_end_is_named(driver: str) -> None:
    """The Run is over and has its verdict; that something went on after it is a mistake."""

    async def main(client: Client) -> None:
        try:
            await client.queue(idle=True).get()
        finally:
            while True:
                pass

    with pytest.raises(ScenarioError, match=r"alpha did not yield after turn .* goes on after"):
        world_of(alpha=main, beta=ticks).run(Calm(), driver=driver)


class Spins(Calm):
    """A Chooser that never answers."""

    def choose(self, options: Options | Alternatives) -> int:
        while True:
            pass


class NeverLooks(Invariant):
    """An Invariant that never comes to an end."""

    name = "never_looks"
    looks_at = frozenset({TURN})

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        while True:
            pass


@pytest.mark.parametrize(
    ("driver", "who"), [("trio", Spins), ("direct", Spins), ("trio", NeverLooks)]
)
def test_a_world_that_never_decides_is_ended(driver: str, who: type[object]) -> None:
    """A Chooser, or an Invariant: the World is named, since no actor has the turn."""
    world = world_of(alpha=ticks)
    chooser: Chooser = Calm()
    if who is Spins:
        chooser = Spins()
    else:
        world.claim(NeverLooks())
    verdict = world.run(chooser, driver=driver)
    assert verdict.outcome == "undecided"
    assert verdict.end.startswith("the World did not yield after turn ")


class Waits(Attendance, Waiter):
    """Lets the World wait for a pipe in which nobody writes, for longer than a turn may take."""

    names: Collection[str] = frozenset()
    wait_s = 0.02

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe
        self.left = 30

    def program(self, actor: Actor) -> Actor:
        """Never called."""
        raise AssertionError

    def begin(self, gate: Gate) -> None:
        """Nothing joins."""

    def attend(self, look: Callable[[], Standing]) -> Waiter | None:
        """Wait once more, if any wait is left."""
        self.left -= 1
        return self if self.left >= 0 else None

    def fileno(self) -> int:
        """The end of the pipe."""
        return self.pipe

    def wait(self) -> None:
        """Sleep, as nothing will come."""
        time.sleep(self.wait_s)

    def close(self) -> None:
        """Nothing to close."""


class SpinsAtFirst(Calm):
    """Makes its first choice after it has spent much more than a turn may."""

    has_chosen = False

    def choose(self, options: Options | Alternatives) -> int:
        until_s = time.thread_time() + 3
        while not self.has_chosen and time.thread_time() < until_s:
            pass
        self.has_chosen = True
        return super().choose(options)


@both_drivers
@pytest.mark.parametrize("chooser", [Calm, SpinsAtFirst])
def test_a_world_may_wait_for_programs_but_not_spin_then(driver: str, chooser: type[Calm]) -> None:
    """It waits for three times as long as a turn may take; what follows in the same turn is ended
    as ever."""
    world = world_of(alpha=ticks)
    ends = os.pipe()
    try:
        world.attendance = waits = Waits(ends[0])
        verdict = world.run(chooser(), driver=driver)
    finally:
        for end in ends:
            os.close(end)
    assert verdict.is_held == (chooser is Calm), str(verdict)
    assert waits.left < 0


def test_the_watchdog_leaves_alone_what_somebody_else_has_taken() -> None:
    """A SIGALRM with a handler keeps it, and its timer; likewise a SIGINT."""

    def theirs(*_: object) -> None:
        """Somebody else's."""

    for number in HANDLERS:
        before = signal.signal(number, theirs)
        try:
            with Watchdog():
                assert signal.getsignal(number) is theirs
        finally:
            signal.signal(number, before)


def test_a_run_between_two_runs_of_a_session_is_watched_too() -> None:
    """Such as the calm one, whose length a Chooser asks for. Then the session's own goes on."""
    table, handlers = Table(), [signal.getsignal(number) for number in HANDLERS]
    with Watchdog() as outer:
        taken = [signal.getsignal(number) for number in HANDLERS]
        with Watchdog() as between:
            between.watch(table)
            theirs: list[Any] = [signal.getsignal(number) for number in HANDLERS]
            assert [handler.__self__ for handler in theirs] == [between, between]
        assert [signal.getsignal(number) for number in HANDLERS] == taken
        assert signal.getitimer(signal.ITIMER_REAL)[1] > 0
        outer.watch(table)
        with Watchdog():  # within a Run, the one that watches it goes on
            assert [signal.getsignal(number) for number in HANDLERS] == taken
    assert [signal.getsignal(number) for number in HANDLERS] == handlers
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_beside_the_main_thread_there_is_no_watchdog() -> None:
    """Only the main thread gets signals; a Run elsewhere goes on without one."""
    verdicts: list[str] = []

    def play() -> None:
        verdicts.append(world_of(alpha=ticks).run(Calm()).outcome)

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    assert verdicts == ["held"]


# -- Ctrl-C -------------------------------------------------------------------------------------


class Interrupts(Calm):
    """Sends the process a SIGINT at a turn, as Ctrl-C does."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.asked = 0

    def choose(self, options: Options | Alternatives) -> int:
        self.asked += 1
        if self.asked == self.at:
            os.kill(os.getpid(), signal.SIGINT)
        return 0


@both_drivers
def test_an_interrupt_ends_the_run_at_its_next_turn(driver: str) -> None:
    """What was played stands in the trace, and says so; KeyboardInterrupt leaves bare, after every
    actor is torn down."""
    ended: list[str] = []

    async def main(client: Client) -> None:
        try:
            while client.now() >= 0:
                await client.sleep(1)
        finally:
            ended.append(client.name)

    world = world_of(alpha=main, beta=main)
    trace = Trace({}, keep=True)
    with pytest.raises(KeyboardInterrupt):
        world.run(Interrupts(7), driver=driver, trace=trace)
    assert trace.end is not None
    assert trace.end["end"] == "interrupted after turn 7"
    assert len(trace.steps) == 7
    assert ended == ["alpha", "beta"]


@both_drivers
def test_an_interrupt_that_comes_when_all_is_torn_down_is_not_lost(driver: str) -> None:
    """The Run has its Verdict; what was to be played after it is not."""

    async def main(client: Client) -> None:
        try:
            await client.queue(idle=True).get()
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    world = world_of(alpha=main, beta=ticks)
    with pytest.raises(KeyboardInterrupt):
        world.run(Calm(), driver=driver)
    assert world.verdict is not None
    assert world.verdict.is_held


@pytest.mark.parametrize(
    ("driver", "main"), [("trio", spins), ("direct", spins), ("trio", swallows)]
)
def test_an_interrupt_ends_a_turn_that_does_not_end(
    driver: str, main: Doing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long a turn may take otherwise."""
    monkeypatch.setattr(watchdog, "SECONDS", 600.0)
    monkeypatch.setattr(watchdog, "HANGS_S", 600.0)
    monkeypatch.setattr(watchdog, "PATIENCE_S", 0.3)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        world_of(alpha=main, beta=ticks).run(Calm(), driver=driver)
    timer.join()


SCENARIOS = '''
"""Scenarios that take a long time."""

from __future__ import annotations

import attrs

from testbed import Actor, Client, World


@attrs.frozen
class Ticks(Actor):
    """Lets time pass, for ever."""

    async def run(self, client: Client) -> None:
        while client.now() >= 0:
            await client.sleep(1)


@attrs.frozen
class Spins(Actor):
    """Never yields."""

    async def run(self, client: Client) -> None:
        await client.sleep(1)
        open("spins", "w").close()
        while True:
            pass


def busy(world: World) -> None:
    """Turn after turn."""
    world.start(Ticks("alpha"), Ticks("beta"))
    world.limit(turns_max=1_000_000)


def stuck(world: World) -> None:
    """One turn."""
    world.start(Spins("alpha"), Ticks("beta"))
'''


@pytest.mark.parametrize(
    ("driver", "scenario", "turns"), [("direct", "busy", 1000), ("trio", "stuck", 2)]
)
def test_ctrl_c_ends_the_command_with_what_was_found_written(
    driver: str, scenario: str, turns: int, tmp_path: Path
) -> None:
    """With code 130, no traceback, and a trace that is whole to its last line."""
    (tmp_path / "slow.py").write_text(SCENARIOS)
    name = tmp_path / "run.trace"
    words = ["run", f"slow:{scenario}", "--driver", driver, "--trace", str(name)]
    process = subprocess.Popen(
        [sys.executable, "-m", "testbed", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        sign = tmp_path / "spins" if scenario == "stuck" else name
        wait_until(lambda: sign.exists() and (sign != name or sign.stat().st_size > 200_000))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=FUSE_S)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert "Interrupted." in err
    assert "Traceback" not in err
    recorded = load(str(name))
    assert str(recorded.end["end"]).startswith("interrupted after turn ")
    assert len(recorded.steps) >= turns


def wait_until(is_so: Callable[[], bool]) -> None:
    """Look until it is."""
    until_s = time.monotonic() + FUSE_S
    while not is_so():
        assert time.monotonic() < until_s
        time.sleep(0.02)


def test_a_world_played_inside_trio_hands_on_the_interrupt() -> None:
    """KeyboardInterrupt reaches the code that awaits `play`, bare, and trio goes on."""
    caught: list[BaseException] = []

    async def main() -> None:
        world = World()
        world.add(note())
        try:
            await world_of(alpha=for_ever, beta=for_ever).play(Interrupts(9))
        except KeyboardInterrupt as error:
            caught.append(error)
        verdict = await world_of(alpha=ticks).play(Calm())
        assert verdict.is_held

    async def for_ever(client: Client) -> None:
        while client.now() >= 0:
            await client.sleep(1)

    trio.run(main)
    assert len(caught) == 1
