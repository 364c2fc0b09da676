"""testbed replay: a recorded Run again, from its choices alone."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click

from testbed.choosers.replayed import Replayed
from testbed.cli.playing import check_driver, compare, how_to_play, same_again, sink
from testbed.cli.show import EXIT_CODES, as_dict, exit_code, replay_line, say, say_json
from testbed.errors import ScenarioError, TraceRefused
from testbed.objects.codec import encode_line
from testbed.scenario import find
from testbed.trace import Recorded, Trace, load
from testbed.version import VERSION
from testbed.world import World

NAME = re.compile(r"\w+(\.\w+)*(:\w+)?")


@click.command("replay", epilog=EXIT_CODES)
@click.argument("file")
@click.option("--scenario", help="Your own module:function, if that is what was recorded.")
@click.option("--trace", "trace_file", metavar="FILE", help="Record it again.")
@how_to_play
def command(
    file: str,
    scenario: str | None,
    trace_file: str | None,
    driver: str,
    audit: bool,
    twice: bool,
    as_json: bool,
) -> int:
    """Play the Run recorded in FILE again, and check that it is the same to the byte."""
    check_driver(driver)
    recorded = load(file)
    name = _allowed(recorded, scenario)
    recipe = find(name)
    again = replay_line(file, name, driver, audit=audit)
    _keep_apart(file, trace_file)
    recipe.values(recorded.header["switches"])

    def play(trace: Trace) -> World:
        world = recipe.world(recorded.header["switches"], audit=audit)
        world.run(Replayed(recorded.steps, again=f"{again} --twice"), driver=driver, trace=trace)
        return world

    with sink(trace_file) as written:
        world = play(Trace({}, keep=True, sink=written))
    verdict = world.verdict
    assert verdict is not None
    played = list(world.trace.lines())
    if twice:
        same_again(play, played, again)
    _check(recorded, played, again)
    if as_json:
        more = {"scenario": name, "switches": world.switches, "trace": trace_file}
        say_json(as_dict(verdict, **more, same=True, again=again))
        return exit_code(verdict)
    if verdict.is_violated:
        from testbed.explain import story

        say(story(world.trace, verdict) + "\n")
    say(str(verdict))
    by = recorded.header.get("testbed")
    but = "" if by == VERSION else f", but for the version: recorded by {by}, played by {VERSION}"
    say(f"The same to the byte as recorded{but}. Again: {again}")
    return exit_code(verdict)


def _allowed(recorded: Recorded, given: str | None) -> str:
    """A file may name a scenario that is installed; one of your own you must name as well, for
    nothing that a file alone names is ever imported."""
    name: str = recorded.header["scenario"]
    if not NAME.fullmatch(name):
        raise TraceRefused(
            f"{recorded.path}, line 1: {name!r} is no name of a scenario: expected one such as "
            "lost_update, or module:function.\n"
            "Next: record one with `testbed run SCENARIO --trace FILE`."
        )
    if given is not None and given != name:
        raise ScenarioError(
            f"--scenario {given}: {recorded.path} was recorded from {name}.\n"
            f"Next: {replay_line(recorded.path, name)}"
        )
    if ":" in name and given is None:
        raise ScenarioError(
            f"{recorded.path} was recorded from {name}, which is not one of `testbed list`.\n"
            f"Next: if you trust that code, name it: {replay_line(recorded.path, name)}"
        )
    return name


def _keep_apart(file: str, trace_file: str | None) -> None:
    """What is replayed is not written over: it may turn out to be another Run."""
    if trace_file is not None and Path(trace_file).exists() and Path(trace_file).samefile(file):
        raise ScenarioError(
            f"--trace {trace_file}: that is the file to be replayed; it would be lost.\n"
            f"Next: {shlex.join(['testbed', 'replay', file, '--trace', file + '.again'])}"
        )


def _check(recorded: Recorded, played: list[bytes], again: str) -> None:
    """Every line must be the same, but for the version in the header, on which all sums depend,
    and for the end of a Run that was interrupted."""
    lines = list(recorded.lines)
    if recorded.header.get("testbed") != VERSION:
        header: dict[str, Any] = {**recorded.header, "testbed": VERSION}
        header.pop("sum", None)
        lines[0] = encode_line(header)[:-1] + b',"sum":""}\n'
        lines, played = (list(map(_without_sum, some)) for some in (lines, played))
    if str(recorded.end["end"]).startswith("interrupted"):
        lines, played = lines[:-1], played[: len(lines) - 1]
    compare(lines, played, again)


def _without_sum(line: bytes) -> bytes:
    return line.rpartition(b',"sum":')[0] + b"}\n"
