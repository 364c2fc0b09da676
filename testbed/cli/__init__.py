"""The command line: one file for each command, loaded when it is called.

Exit codes, of every command:
  0 held · 1 violated · 2 usage · 3 undecided · 4 our bug, or nondeterminism · 130 interrupted

May use: all that stands before it.
In order: output, refused, show, own, limits, jobs, playing, recorded, progress, mutant_lists,
  worth, compared, raised, races, mapped, explained, wrong_answers, profiled, benches, attaching,
  searching, commands, __init__.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module

import click

from testbed.cli.output import let_go_of_output, take_streams, tell
from testbed.errors import HarnessBug, HarnessError, ReplayDiverged, UnknownName
from testbed.version import VERSION

COMMANDS = {
    "demo": "Find a race, and tell its story.",
    "list": "List the scenarios that have a short name, by theme.",
    "show": "Print the page of a scenario, and tell its race.",
    "init": "Write a scenario and a test of your own, to start from.",
    "learn": "Learn how races come about: mend small programs, level by level.",
    "run": "Play one Run of a scenario.",
    "search": "Play many Runs of a scenario, and save each race as a file.",
    "sweep": "Let one fault strike at every operation of every actor.",
    "compare": "Compare what a scenario comes to under several settings.",
    "certify": "Check the certificate of a complete search.",
    "attach": "Play a Run with real programs in place of actors.",
    "serve": "Serve the API of a cluster to programs from outside.",
    "replay": "Play a recorded Run, or a race file, again.",
    "explain": "Tell who knew what when, and why a race breaks a claim.",
    "check": "Check that race files still do what they expect.",
    "keep": "Turn the file of a race into a regression test.",
    "manifest": "Check how Kubernetes manifests are understood.",
    "switches": "Show how components may behave, and do in each profile.",
    "mutants": "Check that the claims find every bug put in on purpose.",
    "grade": "Mark the answers of a class.",
    "bench": "Measure the testbed on this machine.",
}


class _Lazy(click.Group):
    """Knows each command and its line of help; imports a command only to run it."""

    # No `list(…)` in this file: once the command of that name is imported, it is that module.

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
    """Find, replay and explain races between the parts of a Kubernetes-like control plane.

    Start with `testbed demo`, then `testbed list`.
    """


def main(args: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show an arrow shows a question mark instead.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    try:
        # Not `group.main`: on a broken pipe, click exits with 1, which means violated here.
        take_streams()
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
        let_go_of_output()
        return 0
    except (Exception, SystemExit) as error:  # noqa: BLE001 (Python would exit with 1: violated)
        return _unforeseen(error)
    return code if isinstance(code, int) else 0


def _say(text: str, code: int) -> int:
    tell(text)
    return code


def _unforeseen(error: BaseException) -> int:
    """Report an exception: of the user's code, if it raised it; or what the system has refused; or
    else a bug of ours."""
    # Imported only now: most commands end without it.
    raised = import_module("testbed.cli.raised").raised_by_theirs(error)
    if raised is None:
        if refused := import_module("testbed.cli.refused").refused_by_system(error):
            let_go_of_output()
            return _say(f"SystemRefused: {refused}", 2)
        what = f"{type(error).__name__}: {error}"
        tell("".join(traceback.format_exception(error)).rstrip())
        return _say(f"HarnessBug: {what}. Please report it, with the lines above.", 4)
    tell(raised.lines.rstrip())
    return _say(
        f"ScenarioError: {raised.said}.\n"
        "The testbed called it to assemble, to choose or to judge, where nothing may raise.\n"
        f"Next: {_mend(error)}, and run again.",
        2,
    )


def _mend(error: BaseException) -> str:
    """How to mend what a user's code has raised."""
    if type(error).__name__ == "FrozenInstanceError":
        return "declare what an actor holds as fields of an `@attrs.frozen` class, not in __init__"
    return "mend it"
