"""The words of drawn Worlds for tasks, signals, queues, alarms and time, and for what ends them."""

from __future__ import annotations

from typing import Any, NoReturn

from testbed.errors import Cancelled
from tests.models.worlds.doing import WORDS, Action, Desk, does


@does("spawn")
async def spawn(desk: Desk, name: str = "v", actions: tuple[Action, ...] = ()) -> str:
    """Another task of this actor."""
    other = Desk(desk.client, desk.shared, f"{desk.task}.{name}")
    desk.tasks.append(desk.client.spawn(name, other.do, actions))
    return ""


@does("join")
async def join(desk: Desk) -> str:
    """Wait for the end of the task that it spawned last."""
    return str(await desk.client.join(desk.tasks[-1])) if desk.tasks else "no task"


@does("cancel")
async def cancel(desk: Desk) -> str:
    """Cancel the task that it spawned last."""
    if desk.tasks:
        desk.client.cancel(desk.tasks[-1])
    return ""


@does("ended")
async def ended(desk: Desk) -> str:
    """Whether the task that it spawned last has ended."""
    return str(desk.tasks[-1].has_ended) if desk.tasks else "no task"


@does("unwind")
async def unwind(desk: Desk, actions: tuple[Action, ...] = (), last: str = "put") -> str:
    """Do this; whatever ends it, a cancellation or a crash too, do one thing more."""
    try:
        await desk.do(actions)
    except Cancelled:
        desk.client.record("cancelled")
        raise
    finally:
        if last == "put":
            desk.shared.queue("q").put("the last")
        else:
            desk.shared.signal("s").set()
    return ""


@does("put")
async def put(desk: Desk, queue: str = "q") -> str:
    """An item in a queue."""
    desk.shared.queue(queue).put(desk.task)
    return ""


@does("take")
async def take(desk: Desk, queue: str = "q") -> str:
    """The oldest item of a queue."""
    return str(await desk.shared.queue(queue).get())


@does("length")
async def length(desk: Desk, queue: str = "q") -> str:
    """How many items a queue holds."""
    return str(len(desk.shared.queue(queue)))


@does("set")
async def set_(desk: Desk, signal: str = "s") -> str:
    """Set a signal."""
    desk.shared.signal(signal).set()
    return ""


@does("clear")
async def clear(desk: Desk, signal: str = "s") -> str:
    """Clear a signal."""
    desk.shared.signal(signal).clear()
    return ""


@does("is set")
async def is_set(desk: Desk, signal: str = "s") -> str:
    """Whether a signal is set."""
    return str(desk.shared.signal(signal).is_set)


@does("wait")
async def wait(desk: Desk, signal: str = "s") -> str:
    """Wait for a signal."""
    await desk.shared.signal(signal).wait()
    return ""


@does("ring")
async def ring(desk: Desk, ms: int | None = 5) -> str:
    """Set the alarm, or let it not go off."""
    desk.shared.alarm("bell").set(ms)
    return ""


@does("rest")
async def rest(desk: Desk) -> str:
    """Wait for the alarm; one task may, so another one sets it instead."""
    if not desk.is_main:
        return await ring(desk)
    await desk.shared.alarm("bell").wait()
    return ""


@does("when")
async def when(desk: Desk) -> str:
    """When the alarm goes off."""
    bell = desk.shared.alarm("bell")
    return f"{bell.name} {bell.due_ms}"


@does("sleep")
async def sleep(desk: Desk, ms: int = 5, name: str = "nap") -> str:
    """Let time pass."""
    await desk.client.sleep(ms, name, idle=False)
    return ""


@does("first")
async def first(desk: Desk, waits: tuple[str, ...] = ("signal", "sleep"), ms: int = 5) -> str:
    """The first of several waits."""
    client, shared = desk.client, desk.shared
    ways: dict[str, Any] = {
        "signal": lambda: shared.signal("s").wait(),
        "queue": lambda: shared.queue("q").get(),
        "idle": lambda: shared.queue("idle").get(),
        "sleep": lambda: client.sleep(ms),
        "alarm": lambda: shared.alarm("bell").wait() if desk.is_main else client.sleep(ms),
        "both": lambda: client.first(shared.signal("s").wait(), client.sleep(2 * ms)),
    }
    made = [ways[way]() for way in waits]
    if desk.tasks:
        made.append(client.join(desk.tasks[-1]))
    return str(await client.first(*made))


@does("now")
async def now(desk: Desk) -> str:
    """The time by both clocks."""
    return f"{desk.client.now()} {desk.client.elapsed()}"


@does("pick")
async def pick(desk: Desk, label: str = "lot", of: int = 2) -> str:
    """Draw a lot."""
    return desk.client.pick(label, ("white", "black", "red")[:of])


@does("record")
async def record(desk: Desk, facts: bool = False) -> str:
    """Record something; other words may follow from it."""
    held = {"by": desk.task} if facts else None
    desk.number = desk.client.record("fact", held, more="yes")
    return ""


@does("number")
async def number(desk: Desk) -> str:
    """Look at the number of its last Record."""
    return str(desk.number)


@does("show")
async def show(desk: Desk, name: str = "mood") -> str:
    """Show something to claims."""
    desk.client.show(name, f"{desk.task} {len(desk.seen)}")
    return ""


@does("me")
async def me(desk: Desk) -> str:
    """What it knows of itself."""
    return f"{desk.client.name} {desk.client.life} {desk.client.switches}"


@does("hide")
async def hide(desk: Desk) -> str:
    """Add to what all tasks of this life hold, and look at it."""
    desk.shared.hidden.append(desk.task)
    return str(desk.shared.hidden)


@does("exit")
async def exit_(desk: Desk, again: int | None = None) -> NoReturn:
    """End this life."""
    desk.client.exit(again_after_ms=again)


@does("die")
async def die(_: Desk) -> NoReturn:
    """Die of an error."""
    raise RuntimeError("meant")


@does("if")
async def if_(desk: Desk, told: str = "", actions: tuple[Action, ...] = ()) -> str:
    """Go on only if the last look told this; so what was seen decides what is done."""
    word, given = actions[0]
    said = str(await WORDS[word](desk, **given))
    if told in said:
        await desk.do(actions[1:])
    return said
