"""testbed explain: tells why a race, or a recorded Run, breaks a claim."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from testbed.choosers.calm import Calm
from testbed.choosers.continued import Continued
from testbed.choosers.replayed import Replayed
from testbed.choosers.uniform import Uniform
from testbed.cli.races import is_race, open_race, trust_of, whose_code
from testbed.cli.raised import raised_by_theirs
from testbed.cli.show import CODES, EXIT_CODES, JSON, as_dict, exit_code, say, say_json
from testbed.errors import HarnessBug, HarnessError, ReplayDiverged, TraceRefused
from testbed.invariant import Verdict
from testbed.invariants.confluence import Confluent
from testbed.races.necessity import Flipped, necessary, necessity_lines
from testbed.races.playing import play, race_of
from testbed.races.race import Hold, Picked, Race, Strike
from testbed.races.trust import Named, Trust, allowed, line_for, trust_in
from testbed.story.explain import explain_md, explained, story, told_of
from testbed.story.growth import RUNS, FailureRate, growth, growth_lines
from testbed.story.parting import side_by_side
from testbed.turns.option import PICK
from testbed.turns.trace import Trace
from testbed.turns.trace import load as load_trace
from testbed.words import counted
from testbed.world.scenario import Scenario

Deviation = Hold | Strike | Picked
DEVIATIONS_MAX = 60
"""A race with more deviations than this was not shrunk yet; they are not tried one by one."""

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

    @property
    def claim(self) -> str:
        """The claim that is told of: the one that the race is about, else the first that was
        breached; empty if none was."""
        violation = told_of(self.verdict, self.race.breaks)
        return violation.invariant if violation is not None else ""


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
    if how.as_md:
        return explain_md(run.trace, run.verdict, run.race.text(), again).rstrip("\n"), code
    flipped = _necessary(run)
    rates = _growth(run, how.seed) if how.with_growth and run.claim else []
    if how.as_json:
        return _as_dict(run, flipped, rates, again), code
    steps = {step.number: step.option for step in run.trace.steps}
    parts = [story(run.trace, run.verdict, run.claim)]
    if any(violation.invariant == Confluent.name for violation in run.verdict.violations):
        parts.append(side_by_side(_calm(run), run.trace))
    parts += ["\n".join(_deviation_lines(run, flipped)), "\n".join(growth_lines(rates, steps))]
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
        return _Run(recipe, race, played.trace, played.verdict)
    recorded = load_trace(file)
    name = recorded.header["scenario"]
    line = line_for("explain", file, trust_in(name))
    named = Named(name, f"{file}, line 1", f"{file} was recorded from", line, TraceRefused)
    recipe = allowed(named, trust)
    switches = recorded.header["switches"]
    trace = Trace({}, keep=True)
    chooser = Replayed(recorded.steps, again=f"testbed replay {shlex.quote(file)} --twice")
    verdict = recipe.world(switches).run(chooser, driver="direct", trace=trace)
    return _Run(recipe, race_of(recipe, switches, trace.choices), trace, verdict)


def _calm(run: _Run) -> Trace:
    """The calm run, which ends in another state than this Run."""
    trace = Trace({}, keep=True)
    run.recipe.world(run.race.switches, without=run.race.without).run(
        Calm(), driver="direct", trace=trace
    )
    return trace


def _necessary(run: _Run) -> Sequence[Flipped[Deviation]]:
    """For each deviation: whether the same claim still breaks without it."""
    race = run.race
    if not run.claim or len(race) > DEVIATIONS_MAX:
        return ()

    def breaches(deviations: Sequence[Deviation]) -> bool:
        less = attrs.evolve(
            race,
            holds=tuple(each for each in deviations if isinstance(each, Hold)),
            faults=tuple(each for each in deviations if isinstance(each, Strike)),
            picks=tuple(each for each in deviations if isinstance(each, Picked)),
        )
        verdict = play(less, run.recipe, keep=False).verdict
        return any(violation.invariant == run.claim for violation in verdict.violations)

    return necessary((*race.holds, *race.faults, *race.picks), breaches)


def _deviation_lines(run: _Run, flipped: Sequence[Flipped[Deviation]]) -> list[str]:
    """Each deviation, and whether it is needed."""
    left_out = [f"Left out of the scenario: {run.race.left_out}."] if run.race.without else []
    if flipped:
        head = "What the calm run would not do; needed is what this does not break without:"
        return [head, *(f"  {line}" for line in necessity_lines(flipped)), *left_out]
    if run.claim and len(run.race):
        most = f"It takes at most {counted(len(run.race), 'deviation')}; none is told by itself."
        return [most, *left_out]
    return left_out


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
    run: _Run, flipped: Sequence[Flipped[Deviation]], rates: Sequence[FailureRate], again: str
) -> dict[str, Any]:
    deviations = [{"said": str(each.deviation), "needed": each.is_necessary} for each in flipped]
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
