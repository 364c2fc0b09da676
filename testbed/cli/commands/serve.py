"""testbed serve: serves the API of a World over HTTP, to programs that somebody else starts."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import click

from testbed.choosers.calm import Calm
from testbed.cli.output import say, tell
from testbed.cli.playing import parse_switches, placed, sink
from testbed.cli.show import EXIT_CODES, JSON, SCENARIO_PATH, SWITCH, exit_code, say_json
from testbed.errors import ScenarioError, UnknownName
from testbed.objects import calendar
from testbed.objects.manifests.manifest import read
from testbed.races.trust import line_for, trust_in
from testbed.turns.trace import Trace
from testbed.words import counted
from testbed.world.scenario import Scenario, find
from testbed.world.world import World

CLUSTER = "scenarios.cluster:cluster"
"""The scenario of which a World of manifests is made."""
BETWEEN = ":"
"""What stands between the paths of its manifests."""
PARTS = ("scheduler", "kubelets", "controllers")
"""Its switches: which programs of ours there are."""
MANIFESTS = (".yaml", ".yml", ".json")
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""What a guest may be called."""
ENDS = "0 served until --limit, 1 a claim was violated meanwhile, 130 ended by Ctrl-C."
LIMIT = "limit_s"
"""How an end by `--limit` is told."""
SECONDS = click.FloatRange(min=0, min_open=True)
WITH = f"Of a cluster: which programs of ours there are, of {','.join(PARTS)}; or none."
EPOCH = "When virtual time begins, if not in 2025: `wall`, which is now; or 2026-01-31T12:00:00Z."
HOST = "Where to listen, if not at 127.0.0.1 and ::1. Repeatable."


@attrs.frozen
class _How:
    """The options of one command."""

    guests: tuple[str, ...]
    folder: Path
    hosts: tuple[str, ...]
    port: int
    speed: float
    limit: float
    trace_file: str | None
    is_quiet: bool
    as_json: bool


@click.command("serve", epilog=f"{ENDS} {EXIT_CODES}")
@click.argument("what", nargs=-1, required=True, metavar="SCENARIO|MANIFEST...")
@click.option("--guests", default="guest", metavar="NAME,...", help="Who may ask: a token each.")
@click.option("--with", "parts", default=",".join(PARTS), metavar="PART,...", help=WITH)
@click.option("--host", "hosts", multiple=True, help=HOST)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="If not one that is free.")
@click.option("--speed", type=SECONDS, default=1.0, help="Virtual seconds in a second.")
@click.option("--epoch", default="", metavar="wall|DATE", help=EPOCH)
@click.option("--limit", type=SECONDS, default=float("inf"), help="End after so many seconds.")
@click.option("--out", metavar="DIR", help="Folder of the kubeconfigs, if not a temporary one.")
@click.option("--trace", "trace_file", metavar="FILE", help="Record the Run in this file.")
@click.option("--switch", "switches", multiple=True, metavar="K=V", help=SWITCH)
@click.option("--scenario-path", metavar="DIR", help=SCENARIO_PATH)
@click.option("--quiet", "is_quiet", is_flag=True, help="Say only where the kubeconfigs are.")
@click.option("--json", "as_json", is_flag=True, help=f"{JSON} One before it says where to ask.")
def command(
    what: tuple[str, ...],
    guests: str,
    parts: str,
    epoch: str,
    out: str | None,
    switches: tuple[str, ...],
    scenario_path: str | None,
    **given: Any,
) -> int:
    """Serve the API of a World over HTTP until Ctrl-C: that of a SCENARIO, played calm, or of a
    cluster that begins with the objects of each MANIFEST. Whoever has a kubeconfig may ask.

    \b
    testbed serve cluster.yaml                    a cluster, for kubectl
    testbed serve cluster.yaml --with kubelets    … of which only nodes are there
    testbed serve double_bind --guests ann,bob    a scenario, with two guests
    """
    recipe, values = _recipe(what, parts, parse_switches(switches), scenario_path)
    recipe.check(values)
    names = _named(guests)
    with _beginning_at(epoch), _folder(out) as folder:
        world = recipe.world(values)
        for name in names:
            if name in world.table.roles or name in world.wire.posts:
                raise ScenarioError(
                    f"--guests {name}: an actor of {recipe.name} is called so.\n"
                    "Next: call the guest otherwise."
                )
        how = _How(guests=names, folder=folder, **given)
        return _serve(recipe, values, how, scenario_path)


# -- what is served -------------------------------------------------------------------------------


def _recipe(
    what: tuple[str, ...], parts: str, switches: dict[str, str], folder: str | None
) -> tuple[Scenario, dict[str, str]]:
    """The scenario that is served, and its switches."""
    if not all(_is_manifest(each) for each in what):
        if len(what) > 1:
            raise ScenarioError(
                f"{shlex.join(what)}: expected one scenario, or manifests, which are folders or "
                f"end in {', '.join(MANIFESTS)}.\nNext: name one of them."
            )
        return find(placed(what[0], folder)[0]), switches
    chosen = [part for part in parts.split(",") if part not in ("", "none")]
    for part in chosen:
        if part not in PARTS:
            raise UnknownName("part of a cluster", part, PARTS, see="say --with none for none")
    for path in what:
        if BETWEEN in path:
            raise ScenarioError(f"{path}: no path may have a {BETWEEN} in it.\nNext: rename it.")
    found = read(*what).checked()
    for told in (*found.kept, *found.skipped):
        tell(f"{told}.")
    made = {part: "on" if part in chosen else "off" for part in PARTS}
    return find(CLUSTER), {"manifests": BETWEEN.join(what), **made, **switches}


def _is_manifest(path: str) -> bool:
    return path.endswith(MANIFESTS) or Path(path).is_dir()


def _named(guests: str) -> tuple[str, ...]:
    """The names of the guests; each is part of a path."""
    names = tuple(guests.split(","))
    for name in names:
        if NAME.fullmatch(name) is None or names.count(name) > 1:
            raise ScenarioError(
                f"--guests {guests}: expected names of small letters, digits and dashes, each once."
                "\nNext: say --guests ann,bob"
            )
    return names


@contextmanager
def _beginning_at(epoch: str) -> Iterator[None]:
    text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) if epoch == "wall" else epoch
    try:
        calendar.read(text or "2025-01-01T00:00:00Z")
    except ValueError as error:
        raise ScenarioError(
            f"--epoch {epoch}: expected {error}, or wall.\nNext: say --epoch wall"
        ) from error
    with calendar.beginning_at(text):
        yield


@contextmanager
def _folder(out: str | None) -> Iterator[Path]:
    """The folder of the kubeconfigs; a temporary one is removed at the end."""
    if out is None:
        with TemporaryDirectory(prefix="testbed-") as folder:
            yield Path(folder)
        return
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScenarioError(
            f"--out {out}: cannot be made: {error.strerror}.\nNext: name another folder."
        ) from error
    yield Path(out)


# -- serving it -----------------------------------------------------------------------------------


def _serve(recipe: Scenario, switches: dict[str, str], how: _How, folder: str | None) -> int:
    from testbed.attended.casting import attended_by
    from testbed.attended.door import Door
    from testbed.attended.visits import Visits
    from testbed.attended.wall_times import WallTimes

    visits = Visits(on_unmodelled=lambda kind: _tell_unmodelled(kind, how))
    door = Door(
        **({"hosts": how.hosts} if how.hosts else {}),  # type: ignore[arg-type]
        port=how.port,
        on_open=lambda address: _tell_open(world, address, how),
        on_asked=visits.note,
        on_refused=visits.note_refused,
        on_dropped=lambda *what: _tell_unread(visits, *what),
    )
    times = WallTimes(speed=how.speed, limit_s=how.limit)
    served = attended_by(recipe, {}, lambda: how.folder, times, guests=how.guests, door=door)
    world = served.world(switches)
    is_interrupted = False
    with sink(how.trace_file) as file:
        try:
            world.run(Calm(), driver="direct", trace=Trace({}, keep=False, sink=file))
        except KeyboardInterrupt:
            is_interrupted = True
    verdict = world.verdict
    if not how.is_quiet:
        _tell_end(world, visits, how, folder)
    if is_interrupted or verdict is None:
        return 130
    if verdict.is_violated or verdict.end.startswith(LIMIT):
        return int(verdict.is_violated)
    tell(str(verdict))
    return exit_code(verdict)


def _tell_open(world: World, address: str, how: _How) -> None:
    """Say what is served and where, when it can be asked."""
    kubeconfigs = {name: str((how.folder / f"{name}.kubeconfig").resolve()) for name in how.guests}
    if how.as_json:
        say_json({"address": address, "scenario": world.scenario, "kubeconfigs": kubeconfigs})
        return
    if not how.is_quiet:
        objects = counted(len(world.store.snapshot("")), "object")
        actors = counted(len(world.table.roles) - len(how.guests), "actor")
        say(f"Serving {world.scenario}: {objects}, {actors}, at {address}; Ctrl-C ends it.")
    for name, path in kubeconfigs.items():
        whose = f"  # {name}" if len(kubeconfigs) > 1 else ""
        say(f"export KUBECONFIG={shlex.quote(path)}{whose}")


def _tell_unmodelled(kind: str, how: _How) -> None:
    if not how.is_quiet:
        tell(f"{kind} is not modelled: lists of it are empty, and watches silent.")


def _tell_unread(visits: Any, name: str, request: Any, unread: int) -> None:
    visits.note_unread(name)
    # As it happens, and though it be quiet: to its program this looks like a fault of the network.
    tell(
        f"{name} does not read: its {request.method} {request.path} was cut, with {unread:,} bytes "
        "that it had not taken."
    )


def _tell_end(world: World, visits: Any, how: _How, folder: str | None) -> None:
    """Say what was served."""
    verdict = world.verdict
    trust = trust_in(world.scenario, () if folder is None else (folder,))
    replay = line_for("replay", how.trace_file, trust) if how.trace_file else ""
    violations = [] if verdict is None else [str(each) for each in verdict.violations]
    if how.as_json:
        say_json(
            {
                "served": {name: dict(counts) for name, counts in visits.counts.items()},
                "unread": dict(visits.unread),
                "refused": {str(code): times for code, times in visits.refused.items()},
                "violations": violations,
                "replay": replay,
            }
        )
        return
    say(f"Served {visits if visits.counts else 'nothing'}.")
    if refused := sum(visits.refused.values()):
        say(f"Refused at the door: {counted(refused, 'request')}, without a token or a form.")
    if unread := sum(visits.unread.values()):
        say(f"Cut, since nobody read them: {counted(unread, 'answer')}.")
    for violation in violations:
        say(f"Violated: {violation}")
    if replay:
        say(f"Recorded: {replay}")
