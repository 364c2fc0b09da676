"""testbed replay: plays a recorded Run again from its choices alone, or a race from its file."""

from __future__ import annotations

import difflib
import shlex
from pathlib import Path
from typing import Any

import attrs
import click

from testbed.choosers.replayed import Replayed
from testbed.cli.limits import takes_limits
from testbed.cli.output import say
from testbed.cli.playing import (
    check_driver,
    how_to_play,
    keep_imprints,
    parse_switches,
    same_again,
    sink,
)
from testbed.cli.profiled import replay_by_profile
from testbed.cli.races import (
    ENDINGS,
    NamedRace,
    is_race,
    matches,
    notes,
    notes_on_matched,
    open_race,
    refuse_stale,
    side_as_dict,
    side_of,
    stem_of,
    trust_of,
    whose_code,
    write_new,
)
from testbed.cli.recorded import (
    begin_as,
    check_same,
    line_to_record,
    to_tell_apart,
    told_apart,
    with_tape,
)
from testbed.cli.show import EXIT_CODES, as_dict, carried, exit_code, say_json
from testbed.code.files import write_bytes
from testbed.errors import ScenarioError, TraceRefused
from testbed.races.expecting import Side, expect
from testbed.races.healing import Healer
from testbed.races.necessity import flipped, needed_lines
from testbed.races.playing import race_of
from testbed.races.rewriting import changed
from testbed.races.shrink import Shrunk, shrink
from testbed.races.trust import Named, Trust, allowed, line_for, line_naming
from testbed.turns.option import Choice
from testbed.turns.recorded import Recorded, load
from testbed.turns.trace import Trace
from testbed.version import VERSION
from testbed.words import counted
from testbed.world.fault_kinds import faults_in
from testbed.world.scenario import Scenario
from testbed.world.world import World

SIDE = "Race files: set a switch, and expect what the file says for it. Repeatable."


PROFILES = (
    "Race files: play it once as each of these profiles has its components, or `all`; say which "
    "are affected. Exits 0 whatever they come to."
)


@attrs.frozen
class How:
    """The options of one replay."""

    switches: tuple[str, ...]
    match: bool
    profiles: str | None
    shrink: bool
    heal: bool
    out: str | None
    trace_file: str | None
    driver: str
    audit: bool
    twice: bool
    as_json: bool
    imprints: str | None


@click.command("replay", epilog=EXIT_CODES)
@click.argument("file")
@whose_code
@takes_limits
@click.option("--switch", "switches", multiple=True, metavar="K=V", help=SIDE)
@click.option(
    "--match", is_flag=True, help="Race files: show what each line matched, or comes closest."
)
@click.option(
    "--shrink", is_flag=True, help="Write a smaller race file with the same breach; see --out."
)
@click.option(
    "--heal", is_flag=True, help="Race files: find and rewrite lines that no longer match."
)
@click.option("--profiles", metavar="NAMES", help=PROFILES)
@click.option("--out", metavar="FILE", help="Where to write the shrunk or healed race.")
@click.option("--trace", "trace_file", metavar="FILE", help="Record the Run in this file.")
@how_to_play
def command(file: str, scenario: str | None, folders: tuple[str, ...], **asked: Any) -> int:
    """Play the Run that was recorded in FILE again, and check that it is the same to the byte. Or
    play the race of FILE.race.yaml, and say whether it does what the file expects.
    """
    how = How(**asked)
    check_driver(how.driver)
    _check(how, is_race(file))
    trust = trust_of(scenario, folders)
    if not is_race(file):
        return _trace(file, trust, how)
    opened = open_race(file, trust)
    if how.profiles is not None:
        given = parse_switches(how.switches)
        return replay_by_profile(opened, how.profiles, given, as_json=how.as_json)
    if how.heal:
        return _heal(opened, how)
    if how.shrink:
        return _shrink_race(opened, how)
    return _race(opened, how)


def _check(how: How, is_race: bool) -> None:
    others = {"match": how.match, "heal": how.heal, "switch": how.switches}
    for name, is_given in {**others, "profiles": how.profiles is not None}.items():
        if is_given and not is_race:
            raise ScenarioError(
                f"--{name}: a trace has no lines to match and no other side; expected a race file, "
                f"which ends in {ENDINGS[0]}.\nNext: testbed replay FILE --shrink makes one of it."
            )
    more = (how.match, how.heal, how.shrink, how.twice, how.audit, how.trace_file, how.imprints)
    if how.profiles is not None and any(more):
        raise ScenarioError(
            "--profiles: it plays the race once by profile, and does nothing else.\n"
            "Next: say --switch profile=NAME with the other option."
        )
    if how.out is not None and not (how.shrink or how.heal):
        raise ScenarioError("--out: nothing is written.\nNext: say --shrink or --heal with it.")
    if how.shrink and how.heal:
        raise ScenarioError("--shrink and --heal at once.\nNext: heal it first, then shrink it.")


# -- a race file ----------------------------------------------------------------------------------


def _race(file: NamedRace, how: How) -> int:
    given = parse_switches(how.switches)
    expected = side_of(file, given)
    _keep_apart(file.path, how.trace_file)
    race = attrs.evolve(
        file.race, switches=type(file.race.switches)({**file.race.switches, **given})
    )

    def play(trace: Trace) -> Side:
        again = {"driver": how.driver, "audit": how.audit, "trace": trace}
        return expect(race, file.recipe, expected, file.path, **again)

    with sink(how.trace_file) as written:
        side = play(Trace({}, keep=True, sink=written))
    switched = [word for text in how.switches for word in ("--switch", text)]
    again = file.line("replay", *switched, *(["--audit"] if how.audit else []), driver=how.driver)
    keep_imprints(side.played.world, how.imprints)
    if how.twice:
        same_again(lambda t: play(t).played.world, side.played.world, again)
    if how.as_json:
        _say_race(side, file, how, again)
    else:
        _tell_race(side, file, how, again)
    is_told = how.match or how.as_json
    refuse_stale(side, file.path, file.line("replay", "--heal"), is_told=is_told)
    return exit_code(side.played.verdict)


def _tell_race(side: Side, file: NamedRace, how: How, again: str) -> None:
    verdict = side.played.verdict
    if verdict.is_violated:
        _tell_breach(side, file)
    for line in matches(side) if how.match else ():
        say(line)
    # Lines that matched nothing are shown once: `--match` has shown them, and if they are an error,
    # `refuse_stale` shows them.
    for line in (notes_on_matched if how.match or side.is_stale else notes)(side, file.path):
        say(line)
    if side.unmatched and not side.is_stale:
        say(f"Next, for what matched nothing: {file.line('replay', '--heal')}")
    say(str(verdict))
    result = side.said
    say(f"{result[0].upper()}{result[1:]}. Again: {again}")


def _tell_breach(side: Side, file: NamedRace) -> None:
    """The story of a breach, and which lines of the race it needs."""
    from testbed.story.explain import story, told_of

    verdict, world = side.played.verdict, side.played.world
    violation = told_of(verdict, file.race.breaks)
    claim = violation.invariant if violation is not None else ""
    say(story(side.played.trace, verdict, claim) + "\n")
    switches = {name: str(value) for name, value in world.switches.items()}
    race = attrs.evolve(file.race, switches=type(file.race.switches)(switches))
    if lines := needed_lines(race, flipped(race, file.recipe, violation), claim):
        say("\n".join(lines) + "\n")


def _say_race(side: Side, file: NamedRace, how: How, again: str) -> None:
    more = {
        "scenario": file.race.scenario,
        "switches": side.played.world.switches,
        "trace": how.trace_file,
        **side_as_dict(side),
        "notes": list(notes(side, file.path)),
    }
    say_json(as_dict(side.played.verdict, **more, again=again))


def _heal(file: NamedRace, how: How) -> int:
    healer = Healer(file.race, file.recipe, file.path)
    if healer.is_well or healer.is_red:
        result = "it applies as it is" if healer.is_well else (
            "what is to hold is violated: it is the code that must be mended"
        )  # fmt: skip
        return _healed(file, how, result, None, healer, 1 if healer.is_red else 0)
    found = healer.heal()
    runs = counted(healer.runs, "run")
    if found is None:
        result = f"no race nearby shows what is expected, in {runs}; nothing is written"
        return _healed(file, how, result, None, healer, 1)
    text = changed(file.text, file.path, found.changes, found.added)
    return _healed(file, how, f"healed in {runs}", text, healer, 0)


def _healed(
    file: NamedRace, how: How, result: str, text: str | None, healer: Healer, code: int
) -> int:
    path = how.out or file.path
    if text is not None and how.out is not None:
        write_new(Path(path), text, "name another file with --out.")
    elif text is not None:
        write_bytes(path, text.encode())
    opened = attrs.evolve(file, path=path if text is not None else file.path)
    if how.as_json:
        say_json({"file": opened.path, "said": result, "runs": healer.runs, "race": text})
        return code
    if text is not None:
        old, new = (each.splitlines(keepends=True) for each in (file.text, text))
        say("".join(difflib.unified_diff(old, new, file.path, path)).rstrip())
    say(f"{file.path}: {result}. Again: {opened.line()}")
    return code


def _shrink_race(file: NamedRace, how: How) -> int:
    given = parse_switches(how.switches)
    expected = side_of(file, given)
    switches = {**file.race.switches, **(expected.switches if expected else given)}
    race = attrs.evolve(file.race, switches=type(file.race.switches)(switches))
    invariant = expected.violates if expected is not None else ""
    shrunk = shrink(race, file.recipe, invariant=invariant)
    stem = f"{stem_of(file.path)}.shrunk"
    return _shrunk(shrunk, stem, file.recipe, file.trust, how)


def _shrunk(shrunk: Shrunk, stem: str, recipe: Scenario, trust: Trust, how: How) -> int:
    out = how.out or f"{stem}{ENDINGS[0]}"
    text = f"# {shrunk.violation}\n{shrunk.race.text()}"
    write_new(Path(out), text, "name another file with --out.")
    line = NamedRace(out, text, shrunk.race, recipe, trust).line()
    if how.as_json:
        say_json({"file": out, "race": text, "runs": shrunk.runs, "again": line})
        return 0
    say(text)
    left, runs = counted(len(shrunk.race), "deviation"), counted(shrunk.runs, "run")
    without = f", without {shrunk.race.left_out}," if shrunk.race.without else ""
    say(f"Shrunk to {left}{without} in {runs}. Again: {line}")
    return 0


# -- a trace --------------------------------------------------------------------------------------


def _trace(file: str, trust: Trust, how: How) -> int:
    recorded = load(file)
    begin_as(recorded)
    recipe = with_tape(_allowed(recorded, trust), recorded)
    again = line_for("replay", file, trust.naming(recipe.name), *carried(how.driver, how.audit))
    _keep_apart(file, how.trace_file)
    header = recorded.header
    recipe.check(header["switches"])
    faults, without = faults_in(header), header.get("without", ())
    following, record = to_tell_apart(again), line_to_record(recorded, trust.naming(recipe.name))

    def play(trace: Trace) -> World:
        world = recipe.world(header["switches"], audit=how.audit, faults=faults, without=without)
        world.run(Replayed(recorded.steps, again=following), driver=how.driver, trace=trace)
        return world

    def play_here() -> World:
        with sink(how.trace_file) as written:
            return play(Trace({}, keep=True, sink=written))

    world = told_apart(play_here, again, record, twice=how.twice)
    played = list(world.trace.lines())
    keep_imprints(world, how.imprints)
    if how.twice:
        same_again(play, world, again)
    check_same(recorded, played, f"record it again: {record}" if how.twice else following, record)
    if how.shrink and recipe.attendance is not None:
        raise ScenarioError(
            f"--shrink: in {file} real programs took part, and to shrink it they are needed.\n"
            f"Next: {record.replace(' attach ', ' search ')}"
        )
    if how.shrink:
        choices: list[Choice] = world.trace.choices
        whole = race_of(recipe, header["switches"], choices, faults=faults, without=without)
        shrunk = shrink(whole, recipe)
        stem = str(Path(file).with_suffix(""))
        return _shrunk(shrunk, stem, recipe, trust, how)
    return _tell_trace(world, recorded, how, again)


def _tell_trace(world: World, recorded: Recorded, how: How, again: str) -> int:
    verdict = world.verdict
    assert verdict is not None
    if how.as_json:
        scenario = recorded.header["scenario"]
        more = {"scenario": scenario, "switches": world.switches, "trace": how.trace_file}
        say_json(as_dict(verdict, **more, same=True, again=again))
        return exit_code(verdict)
    if verdict.is_violated:
        from testbed.story.explain import story

        say(story(world.trace, verdict) + "\n")
    say(str(verdict))
    by = recorded.header.get("testbed")
    but = "" if by == VERSION else f", but for the version: recorded by {by}, played by {VERSION}"
    say(f"The same to the byte as recorded{but}. Again: {again}")
    return exit_code(verdict)


def _allowed(recorded: Recorded, trust: Trust) -> Scenario:
    """The scenario that a trace was recorded from; an error if it may not be run."""
    name: str = recorded.header["scenario"]
    path = recorded.path
    again = line_naming("replay", path, name)
    said = f"{path} was recorded from"
    return allowed(Named(name, f"{path}, line 1", said, again, TraceRefused), trust)


def _keep_apart(file: str, trace_file: str | None) -> None:
    """Refuse to overwrite the trace that is replayed: the Run may turn out to be another one."""
    if trace_file is not None and Path(trace_file).exists() and Path(trace_file).samefile(file):
        raise ScenarioError(
            f"--trace {trace_file}: that is the file to be replayed; it would be lost.\n"
            f"Next: {shlex.join(['testbed', 'replay', file, '--trace', file + '.again'])}"
        )
