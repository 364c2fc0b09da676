"""The command line: one file per command, loaded when it is called.

Exit codes, of every command:
  0 held · 1 violated · 2 usage · 3 undecided · 4 our bug, or nondeterminism · 130 interrupted

May use: all that stands before it.
In order: show, own, playing, progress, raised, races, benches, searching, commands, __init__.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module

import click

from testbed.errors import HarnessBug, HarnessError, ReplayDiverged, UnknownName
from testbed.version import VERSION

COMMANDS = {
    "demo": "Find a race, and tell it.",
    "list": "The scenarios that can be run by a short name.",
    "init": "Write a scenario and a test of your own, to begin with.",
    "run": "Play one Run of a scenario.",
    "search": "Play many Runs of a scenario, and keep the races that are found.",
    "sweep": "Let one fault strike at every operation of every actor.",
    "replay": "Play a recorded Run again, or a race file.",
    "explain": "Tell who knew what when, and why a race breaks a claim.",
    "check": "Whether race files still do what is expected of them.",
    "keep": "Turn a race that was found into a test that must hold.",
    "manifest": "What is understood of manifests, and what is wrong with them.",
    "switches": "How components may behave, and how they do in each profile.",
    "mutants": "Whether the claims kill every bug put in on purpose.",
    "bench": "Measure this testbed on this machine.",
}


class _Lazy(click.Group):
    """Knows the commands and their first lines; imports one only to run it."""

    # No `list(…)` in this file: once it is imported, that is the command of this name.

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"testbed.cli.commands.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            raise UnknownName("command", args[0], COMMANDS, see="testbed --help")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@click.group(cls=_Lazy, epilog="Exit codes: 0 held, 1 violated, 2 usage, 3 undecided, 4 our bug or "
             "nondeterminism, 130 interrupted.")  # fmt: skip
@click.version_option(VERSION, prog_name="testbed")
def group() -> None:
    """Find, replay and tell races between the parts of a Kubernetes-like control plane.

    Begin with `testbed demo`, then `testbed list`.
    """


def main(args: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show an arrow shows a question mark.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    try:
        # Not `group.main`: when nobody reads its output, that exits with what means violated here.
        with group.make_context("testbed", sys.argv[1:] if args is None else args) as context:
            code = group.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _say("Interrupted.", 130)
    except click.ClickException as error:
        error.show()
        return 2
    except (ReplayDiverged, HarnessBug) as error:
        return _say(f"{type(error).__name__}: {error}", 4)
    except HarnessError as error:
        return _say(f"{type(error).__name__}: {error}", 2)
    except BrokenPipeError:
        import_module("testbed.cli.show").let_go_of_output()
        return 0
    except (Exception, SystemExit) as error:  # noqa: BLE001 (Python would exit with 1: violated)
        return _unforeseen(error)
    return code if isinstance(code, int) else 0


def _say(text: str, code: int) -> int:
    click.echo(text, err=True)
    return code


def _unforeseen(error: BaseException) -> int:
    """An exception in code that is not ours, a scenario's or a claim's, or else a bug of ours."""
    # Loaded only now: most commands end without it.
    raised = import_module("testbed.cli.raised").raised_by_theirs(error)
    if raised is None:
        said = f"{type(error).__name__}: {error}"
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        return _say(f"HarnessBug: {said}. Please report it, with the lines above.", 4)
    click.echo(raised.lines, err=True, nl=False)
    return _say(
        f"ScenarioError: {raised.said}.\n"
        "The testbed called it to assemble, to choose or to judge, where nothing may raise.\n"
        "Next: mend it, and run again.",
        2,
    )
