"""What `explain` and `search` share: a Run that is played to be told, and the page of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cached_property
from itertools import count
from pathlib import Path

import attrs

from testbed import policy
from testbed.choosers.calm import Calm
from testbed.choosers.replayed import Replayed
from testbed.cli.mapped import Maps
from testbed.cli.output import tell
from testbed.cli.playing import placed
from testbed.cli.races import NamedRace, is_race, open_race, stem_of
from testbed.cli.recorded import begin_as, to_tell_apart, with_tape
from testbed.code.files import read_bytes
from testbed.errors import ScenarioError, TraceRefused
from testbed.fault import Fault, Hit
from testbed.invariants.confluence import Confluent, struck_alike
from testbed.maps.mapping import NoMap
from testbed.maps.state_map import StateMap
from testbed.objects.meta import Map
from testbed.page.subject import CalmRun
from testbed.races.necessity import Flipped, flipped, needed_lines
from testbed.races.playing import play, race_of
from testbed.races.race import Deviation, Race
from testbed.races.trust import (
    Named,
    Trust,
    allowed,
    is_installed,
    line_for,
    line_naming,
    words_for,
)
from testbed.story.explain import Issue, explain_md, told_of
from testbed.story.growth import FailureRate
from testbed.story.parting import ROWS_MAX as SIDE_ROWS_MAX
from testbed.story.parting import side_by_side
from testbed.turns.recorded import load as load_trace
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict, Violation
from testbed.world.counterpart import play_counterpart
from testbed.world.fault_kinds import faults_in
from testbed.world.scenario import Scenario, find

ROWS_MAX = 8
"""How many writes of each Run an issue shows at most, before they part for good and after."""
HTML = (".html", ".htm")
"""The endings of a page; nothing else is ever overwritten."""


@attrs.frozen
class ExplainedRun:
    """What is explained: a Race, and the Run that was played of it."""

    recipe: Scenario
    race: Race
    trace: Trace
    verdict: Verdict
    faults: tuple[Fault, ...]
    """The faults that were allowed beside those of its scenario."""
    hits: tuple[Hit, ...]
    """The faults that have struck, and where."""
    again: str
    """The command to paste that tells it again."""
    replay: str
    """The command to paste that plays it again."""
    file: str = ""
    """The race file it was played from; empty if there is none."""
    text: str = ""
    """What stands in that file."""

    @property
    def violation(self) -> Violation | None:
        """The breach that is told of: of the claim that the race is about, else the first; None if
        there is none."""
        return told_of(self.verdict, self.race.breaks)

    @property
    def claim(self) -> str:
        """The claim that is told of; empty if none was breached."""
        return self.violation.invariant if self.violation is not None else ""

    @cached_property
    def calm(self) -> CalmRun:
        """The calm run of the same World. If `confluent` is breached, the same faults strike in it:
        it is the counterpart of this Run."""
        is_confluent = all(v.invariant != Confluent.name for v in self.verdict.violations)
        hits = () if is_confluent else self.hits
        trace = Trace({}, keep=True)
        world = self.recipe.world(self.race.switches, faults=self.faults, without=self.race.without)
        play_counterpart(world, hits, trace)
        assert world.verdict is not None
        return CalmRun(struck_alike("the calm run", len(hits)), trace, world.verdict)

    @property
    def has_calm(self) -> bool:
        """Whether it is another Run than the calm one, and can be held against that."""
        return bool(len(self.race)) and not self.verdict.attended


def played(file: str, trust: Trust) -> ExplainedRun:
    """Play the Run of a race file, or of a trace: its first character is a brace. If it is no file
    and names a scenario, play its calm run."""
    try:
        is_trace = not is_race(file) and read_bytes(file, 1) == b"{"
    except OSError:
        if not is_race(file) and (":" in file or is_installed(file)):
            return _calm(file, trust)
        is_trace = False  # reading it as a race file says what is wrong
    if is_trace:
        return _recorded(file, trust)
    return of_race(open_race(file, trust, "explain"))


def of_race(given: NamedRace, retold_max: int = 0) -> ExplainedRun:
    """Play the Run of a race file that was read. With real programs it may breach nothing: then it
    is played again, `retold_max` times at most."""
    race, recipe = given.race, given.recipe
    done = play(race, recipe)
    for _ in range(retold_max if recipe.attendance is not None else 0):
        if done.verdict.is_violated:
            break
        done = play(race, recipe)
    return ExplainedRun(
        recipe,
        race,
        done.trace,
        done.verdict,
        tuple(strike.fault for strike in race.faults),
        tuple(done.world.hits),
        given.line("explain"),
        given.line("replay"),
        given.path,
        given.text,
    )


def _calm(scenario: str, trust: Trust) -> ExplainedRun:
    """Play the calm run of a scenario that the user has named."""
    if trust.scenario is not None:
        raise ScenarioError(
            f"--scenario {trust.scenario}: {scenario} is no file, and names a scenario itself.\n"
            "Next: leave --scenario out."
        )
    name, folder = placed(scenario, next(iter(trust.folders), None))
    recipe = find(name)
    trace = Trace({}, keep=True)
    world = recipe.world()
    verdict = world.run(Calm(), driver="direct", trace=trace)
    switches = Map({name: str(value) for name, value in world.switches.items()})
    words = [*words_for(recipe.name, () if folder is None else (folder,)), *policy.words()]
    return ExplainedRun(
        recipe,
        Race(recipe.name, switches),
        trace,
        verdict,
        (),
        tuple(world.hits),
        shlex.join(["testbed", "explain", *words]),
        shlex.join(["testbed", "run", *words]),
    )


def _recorded(file: str, trust: Trust) -> ExplainedRun:
    """Play the Run of a trace again, and write it as a race."""
    recorded = load_trace(file)
    begin_as(recorded)
    name = recorded.header["scenario"]
    line = line_naming("explain", file, name)
    named = Named(name, f"{file}, line 1", f"{file} was recorded from", line, TraceRefused)
    recipe = with_tape(allowed(named, trust), recorded)
    switches, without = recorded.header["switches"], recorded.header.get("without", ())
    faults = faults_in(recorded.header)
    trace = Trace({}, keep=True)
    replay = line_for("replay", file, trust.naming(recipe.name))
    chooser = Replayed(recorded.steps, again=to_tell_apart(replay))
    world = recipe.world(switches, faults=faults, without=without)
    verdict = world.run(chooser, driver="direct", trace=trace)
    if "guests" in recorded.header:
        # What was served for hours is no race, and would take as long to write as one.
        race = Race(recipe.name, switches=Map({k: str(v) for k, v in switches.items()}))
    else:
        # Under the holds of a race the Steps in between are others, so a place is a number of
        # turns.
        recipe = with_tape(recipe, recorded, by_turns=True)
        race = race_of(recipe, switches, trace.choices, faults=faults, without=without)
    again = line_for("explain", file, trust)
    return ExplainedRun(
        recipe, race, trace, verdict, tuple(faults), tuple(world.hits), again, replay
    )


def writes_beside(run: ExplainedRun, rows_max: int = SIDE_ROWS_MAX) -> str:
    """The writes of the calm run, and those of this Run."""
    return side_by_side(run.calm.trace, run.trace, rows_max, run.calm.name)


def issue(run: ExplainedRun, tried: Sequence[Flipped[Deviation]]) -> str:
    """The story as Markdown, with the calm run beside it unless the Run is that itself."""
    shown: list[str] = []
    if run.has_calm:
        shown = [str(run.calm.verdict), writes_beside(run, ROWS_MAX)]
    needed = needed_lines(run.race, tried, run.claim)
    told = Issue(run.race.text(), run.again, run.claim, tuple(needed), tuple(shown))
    return explain_md(run.trace, run.verdict, told).rstrip("\n")


def lines_tried(run: ExplainedRun) -> Sequence[Flipped[Deviation]]:
    """Of each line whether the breach needs it. What a program would do without one of the lines is
    not on its tape."""
    return () if run.verdict.attended else flipped(run.race, run.recipe, run.violation)


def write_page_of(
    run: ExplainedRun,
    path: Path,
    tried: Sequence[Flipped[Deviation]],
    rates: Sequence[FailureRate] = (),
    maps: Maps | None = None,
) -> None:
    """Write the page of that Run, with the complete map of its World if `maps` has it."""
    from testbed.page.data import page_data
    from testbed.page.page import render
    from testbed.page.subject import PageSubject

    subject = PageSubject(
        run.recipe,
        run.race,
        run.trace,
        run.verdict,
        run.replay,
        issue(run, tried),
        run.file,
        run.text,
        run.calm if run.has_calm else None,
        tried,
        rates,
        map_of(run, Maps() if maps is None else maps),
    )
    write_page(path, render(page_data(subject)))


def map_of(run: ExplainedRun, maps: Maps) -> StateMap | None:
    """The complete map of the World of that Run. If there is none, and all are wanted, it is said
    why."""
    found: StateMap | NoMap | None
    if run.verdict.attended:
        found = NoMap("real programs took part: what they would do next is not known.")
    elif run.race.without:
        found = NoMap(f"{run.race.left_out} left out; a map is that of the whole scenario.")
    else:
        found = maps.of(run.recipe, run.race.switches, run.faults)
    if isinstance(found, NoMap) and maps.all_wanted:
        tell(f"No map: {found.said}")
    return found if isinstance(found, StateMap) else None


def page_paths(given: str, files: Sequence[str]) -> list[Path]:
    """Where the page of each file goes. A name that ends in .html is that of one page; any other is
    a folder, in which each page has the name of its file."""
    path = Path(given)
    if path.suffix.lower() not in HTML:
        paths = [path / f"{_stem(file)}.html" for file in files]
        twice = next((one for n, one in enumerate(paths) if one in paths[:n]), None)
        if twice is None:
            return paths
        first, other = [file for file, one in zip(files, paths, strict=True) if one == twice][:2]
        raise ScenarioError(
            f"--page {given}: the pages of {first} and {other} would both be {twice}.\n"
            "Next: explain one of them by itself, with another folder."
        )
    if len(files) > 1:
        raise ScenarioError(
            f"--page {given}: one page for {len(files)} files; expected a folder for them.\n"
            f"Next: --page {path.with_suffix('')}, or explain one of them."
        )
    return [path]


def _stem(file: str) -> str:
    """The name of a file without its ending; of a scenario its own name."""
    if not Path(file).exists():
        return file.rpartition(":")[2]
    name = Path(file).name
    return stem_of(name) if is_race(name) else Path(name).stem


def write_page(path: Path, text: str) -> None:
    """Write a page whole; it replaces the page that was there, and no other file."""
    half: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half = _new_beside(path)
        half.write_text(text, encoding="utf-8", newline="\n")
        half.replace(path)
    except OSError as error:
        raise ScenarioError(
            f"--page {path}: cannot be written: {error.strerror}.\n"
            "Next: name a file that ends in .html, in a folder you may write."
        ) from error
    finally:
        if half is not None:
            half.unlink(missing_ok=True)


def _new_beside(path: Path) -> Path:
    """A new, empty file in the same folder."""
    for number in count(1):
        found = path.with_name(f"{path.name}.{number}.new")
        try:
            found.touch(exist_ok=False)
        except FileExistsError:
            continue
        return found
    raise AssertionError
