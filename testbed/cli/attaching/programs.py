"""Programs: the options that say which real programs stand in place of which actors."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from testbed.cli.limits import as_switch
from testbed.errors import ScenarioError

if TYPE_CHECKING:
    from testbed.world.scenario import Scenario

AS = (
    "Run this real program in place of that actor. {name} in it becomes the actor's name, and so "
    "for its other settings; KUBECONFIG says where it asks. Repeatable."
)
SPEED = "Virtual seconds in a second; other than 1 only for programs without timers."
QUIET = "A Run is at rest after this many seconds of silence."
SILENCE = "What is held until something that does not come is let go after so many."
LIMIT = (
    "No play takes longer than this many seconds; it ends Undecided. With a name, a limit of the "
    "Run, such as until_ms=45s. Repeatable."
)
DEFAULTS = {"speed": 1.0, "quiet": 2.0, "silence": 10.0, "limit": 120.0}
SECONDS = click.FloatRange(min=0, min_open=True)


@attrs.frozen
class Programs:
    """Which programs stand in place of which actors, and how long they are waited for."""

    given: tuple[str, ...]
    """What `--as` was given."""
    commands: Mapping[str, tuple[str, ...]]
    waits: Mapping[str, float]
    """`speed`, `quiet`, `silence` and `limit`, as the options say them."""

    @property
    def words(self) -> list[str]:
        """The options that say the same, to be pasted."""
        words = [word for text in self.given for word in ("--as", text)]
        for name, seconds in self.waits.items():
            if seconds != DEFAULTS[name]:
                words += [f"--{name}", f"{seconds:g}"]
        return words

    def cast(
        self, recipe: Scenario, switches: Mapping[str, Any], folder: Callable[[], Path]
    ) -> Scenario:
        """That Scenario with the programs in it."""
        from testbed.attended.casting import attended_by, check_names
        from testbed.attended.wall_times import WallTimes

        check_names(self.commands, recipe.world(switches), "--as ")
        waits = self.waits
        times = WallTimes(
            quiet_s=waits["quiet"], silence_s=waits["silence"],
            limit_s=waits["limit"], speed=waits["speed"],
        )  # fmt: skip
        return attended_by(recipe, self.commands, folder, times)


def takes_programs(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take `--as` and how long programs are waited for."""
    options = (
        click.option("--as", "programs", multiple=True, metavar="ACTOR=COMMAND", help=AS),
        click.option("--speed", type=SECONDS, default=DEFAULTS["speed"], help=SPEED),
        click.option("--quiet", type=SECONDS, default=DEFAULTS["quiet"], help=QUIET),
        click.option("--silence", type=SECONDS, default=DEFAULTS["silence"], help=SILENCE),
        click.option("--limit", "limits", multiple=True, metavar="SECONDS|NAME=N", help=LIMIT),
    )

    @wraps(command)
    def limited(limits: tuple[str, ...], switches: tuple[str, ...], **given: Any) -> int:
        own = [as_switch(text) for text in limits if "=" in text]
        seconds = [_seconds(text) for text in limits if "=" not in text]
        limit = seconds[-1] if seconds else DEFAULTS["limit"]
        return command(switches=(*switches, *own), limit=limit, **given)

    taking: Callable[..., int] = limited
    for option in reversed(options):
        taking = option(taking)
    return taking


def _seconds(text: Any) -> float:
    seconds: float = SECONDS.convert(text, None, None)
    return seconds


def programs_of(given: tuple[str, ...], waits: Mapping[str, float]) -> Programs:
    """What these options say, checked as far as it can be without the scenario."""
    commands: dict[str, tuple[str, ...]] = {}
    for text in given:
        names, equals, line = text.partition("=")
        try:
            command = tuple(shlex.split(line))
        except ValueError as error:
            raise _unreadable(text, f"{error} in the command") from error
        if not equals or not names or not command:
            raise _unreadable(text, "expected ACTOR=COMMAND")
        for name in names.split(","):
            if name in commands:
                raise _unreadable(text, f"{name} has a command already")
            commands[name] = command
    return Programs(given, commands, waits)


def _unreadable(text: str, why: str) -> ScenarioError:
    return ScenarioError(
        f"--as {text}: {why}.\n"
        "Next: say --as alpha='/usr/local/bin/my-scheduler --name {name}', with the name of an "
        "actor of the scenario; several may share one, as alpha,beta=…"
    )
