"""testbed explain: tells why a race, or a recorded Run, breaks a claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from testbed.choosers.continued import Continued
from testbed.choosers.replayed import Replayed
from testbed.choosers.uniform import Uniform
from testbed.cli.races import is_race, open_race, trust_of, whose_code
from testbed.cli.raised import raised_by_theirs
from testbed.cli.recorded import begin_as, to_tell_apart, with_tape
from testbed.cli.show import CODES, EXIT_CODES, JSON, as_dict, exit_code, say, say_json
from testbed.errors import HarnessBug, HarnessError, ReplayDiverged, TraceRefused
from testbed.fault import Fault, Hit
from testbed.invariant import Verdict, Violation
from testbed.invariants.confluence import Confluent, struck_alike
from testbed.objects.meta import Map
from testbed.races.necessity import Flipped, flipped, needed_lines
from testbed.races.playing import play, race_of
from testbed.races.race import Deviation, Race
from testbed.races.trust import Named, Trust, allowed, line_for, line_naming
from testbed.story.explain import Issue, explain_md, explained, story, told_of
from testbed.story.growth import RUNS, FailureRate, growth, growth_lines
from testbed.story.parting import ROWS_MAX as SIDE_ROWS_MAX
from testbed.story.parting import side_by_side
from testbed.turns.option import PICK
from testbed.turns.recorded import load as load_trace
from testbed.turns.trace import Trace
from testbed.world.counterpart import play_counterpart
from testbed.world.fault_kinds import faults_in
from testbed.world.scenario import Scenario

ROWS_MAX = 8
"""How many writes of each Run an issue shows at most, before they part for good and after."""

BAD = 2
"""The exit code if a file cannot be played."""
WORST_FIRST = (BAD, *(CODES[outcome] for outcome in ("violated", "undecided", "held")))


@attrs.frozen
class _How:
    """The options that say how it is told."""

    as_md: bool
    as_json: bool
    with_growth: bool
    seed: int


@attrs.frozen
class _Run:
    """What is explained: a Race, and the Run that was played of it."""

    recipe: Scenario
    race: Race
    trace: Trace
    verdict: Verdict
    faults: tuple[Fault, ...]
    """The faults that were allowed beside those of its scenario."""
    hits: tuple[Hit, ...]
    """The faults that have struck, and where."""

    @property
    def violation(self) -> Violation | None:
        """The breach that is told of: of the claim that the race is about, else the first; None if
        there is none."""
        return told_of(self.verdict, self.race.breaks)

    @property
    def claim(self) -> str:
        """The claim that is told of; empty if none was breached."""
        return self.violation.invariant if self.violation is not None else ""


@click.command("explain", epilog=EXIT_CODES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@whose_code
@click.option("--md", "as_md", is_flag=True, help="Print Markdown, ready for an issue.")
@click.option("--json", "as_json", is_flag=True, help=JSON)
@click.option("--growth", "with_growth", is_flag=True, help="Show how the chance to fail grows.")
@click.option("--seed", type=int, default=0, help="Seed of the random Runs for --growth.")
def command(
    files: tuple[str, ...], scenario: str | None, folders: tuple[str, ...], **asked: Any
) -> int:
    """Play the race file or the recorded Run in each FILE, and tell why it breaks a claim.

    Of several, each is told under its name, even if another one cannot be read. Exits 1 if one is
    violated, 2 if one cannot be played.

    \b
    testbed explain race.yaml                who knew what when, and which deviations it takes
    testbed explain race.yaml --md           the same, to paste into an issue
    testbed explain race.yaml --growth       and after which step the Run was as good as lost
    testbed explain races/*.race.yaml        each of them
    """
    how, trust = _How(**asked), trust_of(scenario, folders)
    if len(files) == 1:
        told, code = _told(files[0], trust, how)
        if isinstance(told, dict):
            say_json(told)
        else:
            say(told)
        return code
    codes, all_told = [], []
    for number, file in enumerate(files):
        try:
            told, code = _told(file, trust, how)
        except (HarnessBug, ReplayDiverged):
            raise
        except HarnessError as error:
            told, code = _bad(f"{type(error).__name__}: {error}", how), BAD
        except (Exception, SystemExit) as error:
            if (raised := raised_by_theirs(error)) is None:
                raise
            told, code = _bad(raised.said, how), BAD
        codes.append(code)
        if isinstance(told, dict):
            all_told.append({"file": file, **told})
        else:
            between = ("\n---\n\n" if how.as_md else "\n") if number else ""
            say(between + (told if how.as_md else f"== {file}\n\n{told}"))
    code = next(code for code in WORST_FIRST if code in codes)
    if how.as_json:
        say_json({"code": code, "explained": all_told})
    return code


def _bad(said: str, how: _How) -> str | dict[str, Any]:
    return {"error": said} if how.as_json else said


def _told(file: str, trust: Trust, how: _How) -> tuple[str | dict[str, Any], int]:
    """What is told of one file, as a text or for JSON, and its exit code."""
    run = _played(file, trust)
    again, code = line_for("explain", file, trust), exit_code(run.verdict)
    # What a program would do without one of the lines is not on its tape.
    tried = () if run.verdict.attended else flipped(run.race, run.recipe, run.violation)
    if how.as_md:
        return _issue(run, tried, again), code
    with_growth = how.with_growth and bool(run.claim) and not run.verdict.attended
    rates = _growth(run, how.seed) if with_growth else []
    if how.as_json:
        return _as_dict(run, tried, rates, again), code
    steps = {step.number: step.option for step in run.trace.steps}
    parts = [story(run.trace, run.verdict, run.claim)]
    if any(violation.invariant == Confluent.name for violation in run.verdict.violations):
        parts.append(_beside(run)[1])
    parts += ["\n".join(needed_lines(run.race, tried, run.claim))]
    parts += ["\n".join(growth_lines(rates, steps))]
    last = f"{run.verdict}\nAgain: {again}"
    return "\n".join([*(f"{part}\n" for part in parts if part), last]), code


def _played(file: str, trust: Trust) -> _Run:
    """Play the Run of a race file, or of a trace, whose first character is a brace."""
    try:
        with Path(file).open("rb") as opened:
            is_trace = not is_race(file) and opened.read(1) == b"{"
    except OSError:
        is_trace = False  # reading it as a race file says what is wrong
    if not is_trace:
        given = open_race(file, trust, "explain")
        race, recipe = given.race, given.recipe
        played = play(race, recipe)
        faults = tuple(strike.fault for strike in race.faults)
        hits = tuple(played.world.hits)
        return _Run(recipe, race, played.trace, played.verdict, faults, hits)
    recorded = load_trace(file)
    begin_as(recorded)
    name = recorded.header["scenario"]
    line = line_naming("explain", file, name)
    named = Named(name, f"{file}, line 1", f"{file} was recorded from", line, TraceRefused)
    recipe = with_tape(allowed(named, trust), recorded)
    switches, without = recorded.header["switches"], recorded.header.get("without", ())
    faults = faults_in(recorded.header)
    trace = Trace({}, keep=True)
    again = line_for("replay", file, trust.naming(recipe.name))
    chooser = Replayed(recorded.steps, again=to_tell_apart(again))
    world = recipe.world(switches, faults=faults, without=without)
    verdict = world.run(chooser, driver="direct", trace=trace)
    if "guests" in recorded.header:
        # What was served for hours is no race, and would take as long to write as one.
        race = Race(recipe.name, switches=Map({k: str(v) for k, v in switches.items()}))
        return _Run(recipe, race, trace, verdict, tuple(faults), tuple(world.hits))
    # Under the holds of a race the Steps in between are others, so a place is a number of turns.
    recipe = with_tape(recipe, recorded, by_turns=True)
    race = race_of(recipe, switches, trace.choices, faults=faults, without=without)
    return _Run(recipe, race, trace, verdict, tuple(faults), tuple(world.hits))


def _beside(run: _Run, rows_max: int = SIDE_ROWS_MAX) -> tuple[Verdict, str]:
    """The calm run of the same World, and its writes beside those of this Run. If this Run ends
    otherwise than its counterpart, that is shown, with the same faults."""
    hits = run.hits if any(v.invariant == Confluent.name for v in run.verdict.violations) else ()
    trace = Trace({}, keep=True)
    world = run.recipe.world(run.race.switches, faults=run.faults, without=run.race.without)
    play_counterpart(world, hits, trace)
    assert world.verdict is not None
    title = struck_alike("the calm run", len(hits))
    return world.verdict, side_by_side(trace, run.trace, rows_max, title)


def _issue(run: _Run, tried: Sequence[Flipped[Deviation]], again: str) -> str:
    """The story as Markdown, with the calm run beside it unless the Run is that itself."""
    beside: list[str] = []
    if len(run.race) and not run.verdict.attended:
        calm, writes = _beside(run, ROWS_MAX)
        beside = [str(calm), writes]
    needed = needed_lines(run.race, tried, run.claim)
    told = Issue(run.race.text(), again, run.claim, tuple(needed), tuple(beside))
    return explain_md(run.trace, run.verdict, told).rstrip("\n")


def _growth(run: _Run, seed: int) -> list[FailureRate]:
    """The failure rate along the Run, after each effect and each pick."""
    faults = [strike.fault for strike in run.race.faults]
    violation = told_of(run.verdict, run.claim)
    end = violation.step if violation is not None else 0

    def failing(point: int) -> int:
        chooser = Continued(run.trace.choices[:point], Uniform(seed))
        failed = 0
        for number in range(RUNS):
            world = run.recipe.world(run.race.switches, faults=faults, without=run.race.without)
            verdict = world.run(chooser, driver="direct", number=number)
            failed += any(violation.invariant == run.claim for violation in verdict.violations)
        return failed

    points = [
        step.number
        for step in run.trace.steps
        if step.number <= end and (step.option.is_effect or step.kind == PICK)
    ]
    return growth([0, *points], failing)


def _as_dict(
    run: _Run, tried: Sequence[Flipped[Deviation]], rates: Sequence[FailureRate], again: str
) -> dict[str, Any]:
    deviations = [{"said": str(each.deviation), "needed": each.is_necessary} for each in tried]
    along = [{"step": each.point, "failed": each.failed, "runs": each.runs} for each in rates]
    return as_dict(
        run.verdict,
        scenario=run.recipe.name,
        switches=dict(run.race.switches),
        without=list(run.race.without),
        story=explained(run.trace, run.verdict, run.claim),
        deviations=deviations,
        growth=along,
        again=again,
    )
