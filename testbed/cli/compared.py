"""How `testbed compare` shows a Comparison: as lines with bars, as Markdown, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Any

from testbed.search.comparing.comparison import Comparison, FigureRow, PlayedAlternative
from testbed.search.comparing.resampling import RUNS_MIN, Estimate, is_distinct
from testbed.search.comparing.sample import TIME, TIME_PER_RUN
from testbed.words import counted

MINUTE_MS = 60_000
BAR, BAR_MAX = "█", 24
NEVER, UNKNOWN, DISTINCT = "never", "–", "*"
INTERVALS = (
    "[…]: 95 of 100 resampled sets of Runs (bootstrap over Runs). A number alone: all of them.",
    "*: the difference from A, Run by Run of the same seed, is not zero in 95 of 100 of them.",
    "Of figures that do not differ about one in twenty has a * by chance: many show some.",
)
NO_INTERVALS = f"No intervals and no *: fewer than {RUNS_MIN} Runs say nothing of chance."


def letters(comparison: Comparison) -> list[str]:
    """A short name for each alternative: A, B, and so on."""
    return [_letter(number) for number in range(len(comparison.played))]


def _letter(number: int) -> str:
    more, place = divmod(number, len(ascii_uppercase))
    return (_letter(more - 1) if more else "") + ascii_uppercase[place]


def title(comparison: Comparison) -> str:
    """What was played."""
    last = comparison.seed + comparison.runs - 1
    seeds = f"seed {last}" if comparison.runs == 1 else f"seeds {comparison.seed} to {last}"
    played = [each.alternative.switches for each in comparison.played]
    common = [f"{k}={v}" for k, v in played[0].items() if all(o.get(k) == v for o in played)]
    what = ", ".join([comparison.scenario, *common])
    return (
        f"{what}: {counted(comparison.runs, 'run')} of each alternative, {seeds}, "
        f"{comparison.chooser}"
    )


def legend(comparison: Comparison) -> Iterator[str]:
    """Each alternative, with its letter."""
    for letter, played in zip(letters(comparison), comparison.played, strict=True):
        yield f"{letter}  {played.alternative.name}"


NO_TIMES = (
    f"Times ({UNKNOWN} for none) are of important pods that came during the Run, not of those that "
    "were there from the start (world.add)."
)


def notes(comparison: Comparison) -> Iterator[str]:
    """What no alternative has shown anything of, and how to read the figures."""
    empty = dict.fromkeys(
        row.figure.name.partition(",")[0] for row in comparison.rows if _is_empty(row)
    )
    if empty:
        yield f"Nothing of: {', '.join(empty)}."
    if any(_has_no_time(row) for row in comparison.rows):
        yield NO_TIMES
    if comparison.runs < RUNS_MIN:
        yield NO_INTERVALS
    else:
        yield from INTERVALS


def _is_empty(row: FigureRow) -> bool:
    """Whether no alternative has shown anything of it. No time at all is a time, too."""
    nothing = (None,) if row.figure.unit == TIME else (None, 0)
    return all(each.value in nothing for each in row.estimates)


def _has_no_time(row: FigureRow) -> bool:
    return row.figure.unit == TIME and any(each.value is None for each in row.estimates)


def _shown(comparison: Comparison) -> list[FigureRow]:
    return [row for row in comparison.rows if not _is_empty(row)]


# -- as text --------------------------------------------------------------------------------------


def bars(comparison: Comparison) -> Iterator[str]:
    """For each Figure that is not empty its name, what it is, and a bar for each alternative."""
    for row in _shown(comparison):
        yield f"{row.figure.name}: {row.measure.says}"
        cells = _cells(row)
        width = max(map(len, cells))
        for letter, cell, found in zip(letters(comparison), cells, row.estimates, strict=True):
            line = f"  {letter}  {cell.ljust(width)}  {_bar(found, row.estimates)}"
            yield line.rstrip()
        yield ""


def _bar(found: Estimate, among: Sequence[Estimate]) -> str:
    known = [each.value for each in among if each.value is not None and math.isfinite(each.value)]
    most = max(known, default=0.0)
    if found.value is None:
        return ""
    if math.isinf(found.value):
        return BAR * BAR_MAX + "→"
    share = found.value / most if most > 0 else 0.0
    return BAR * (max(1, round(share * BAR_MAX)) if share > 0 else 0)


def _cells(row: FigureRow) -> list[str]:
    return [
        _cell(found, row.figure.unit, is_other=is_distinct(apart))
        for found, apart in zip(row.estimates, row.differences, strict=True)
    ]


def _cell(found: Estimate, unit: str, *, is_other: bool) -> str:
    text = _number(found.value, unit, is_exact=found.is_exact)
    if found.low is not None and not found.low == found.value == found.high:
        text += f" [{_number(found.low, unit)}, {_number(found.high, unit)}]"
    return f"{text} {DISTINCT}" if is_other else text


def _number(value: float | None, unit: str, *, is_exact: bool = False) -> str:
    if value is None:
        return UNKNOWN
    if math.isinf(value):
        return NEVER
    if unit == TIME:
        return f"{value / 1000:.1f} s"
    if unit == TIME_PER_RUN:
        return f"{value / MINUTE_MS:.1f} min"
    if is_exact:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


# -- as Markdown ----------------------------------------------------------------------------------


def markdown(comparison: Comparison) -> Iterator[str]:
    """A table with a column for each alternative, then the bars."""
    yield f"{title(comparison)}."
    yield ""
    for line in legend(comparison):
        letter, _, name = line.partition("  ")
        yield f"- {letter}: `{name}`"
    yield ""
    names = letters(comparison)
    yield f"| | {' | '.join(names)} |"
    yield f"|---|{'---|' * len(names)}"
    for row in _shown(comparison):
        cells = (cell.replace("*", "\\*") for cell in _cells(row))
        yield f"| {row.figure.name} | {' | '.join(cells)} |"
    yield ""
    yield " ".join(notes(comparison)).replace("*", "\\*")
    yield ""
    yield "```"
    yield from list(bars(comparison))[:-1]
    yield "```"


# -- as JSON --------------------------------------------------------------------------------------


def as_data(comparison: Comparison) -> dict[str, Any]:
    """All of it, with what each Run has shown."""
    return {
        "scenario": comparison.scenario,
        "runs": comparison.runs,
        "seed": comparison.seed,
        "chooser": comparison.chooser,
        "alternatives": [_played(each) for each in comparison.played],
        "figures": [_row(row, comparison.played) for row in comparison.rows],
    }


def _played(played: PlayedAlternative) -> dict[str, Any]:
    return {
        "name": played.alternative.name,
        "switches": dict(played.alternative.switches),
        "outcomes": dict(played.outcomes),
        "violated": played.breached,
        "cut": dict(played.cut),
    }


def _row(row: FigureRow, played: Sequence[PlayedAlternative]) -> dict[str, Any]:
    pairs = zip(played, row.estimates, row.differences, strict=True)
    return {
        "measure": row.measure.name,
        "figure": row.figure.name,
        "unit": row.figure.unit,
        "says": row.measure.says,
        "values": [
            {
                "alternative": each.alternative.name,
                **_estimate(found),
                "difference": _estimate(apart),
                "is_distinct": is_distinct(apart),
                "of_runs": [_sample(sample) for sample in each.samples[row.measure.name]],
            }
            for each, found, apart in pairs
        ],
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        "value": _plain(found.value),
        "low": _plain(found.low),
        "high": _plain(found.high),
        "is_exact": found.is_exact,
    }


def _plain(value: float | None) -> float | str | None:
    return NEVER if value is not None and math.isinf(value) else value


def _sample(sample: Any) -> Any:
    if sample.times_ms:
        return list(sample.times_ms)
    return [sample.count, sample.of] if sample.of else sample.count
