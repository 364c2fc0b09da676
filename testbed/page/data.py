"""Data: all that one page shows, as the plain data that `assets/types.d.ts` says.

The Run that is told comes first, then the calm run, then the Run with one thing turned, for each
such thing. The size of a page is limited: a Run that would not fit is shown in fewer rows, and any
but the told one not at all if even those are too many. Two Runs in which the same happened are one.
"""

from __future__ import annotations

from typing import Any

from testbed.objects.codec import encode
from testbed.page.facts import figures, keep, looked, race_of_page
from testbed.page.run_data import ROWS_MAX, RunTold, said_of
from testbed.page.subject import PageSubject
from testbed.page.what_if import Flip, body_of, flips
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict

FORMAT = "testbed-page/1"
BYTES_MAX = 320_000
"""How long the data of one page may be, as compact JSON, without its map."""
ROWS = (ROWS_MAX, 60, 24)
"""In how many rows a Run is shown: the first of these that fits."""
NONE = -1


def page_data(subject: PageSubject) -> dict[str, Any]:
    """All that a page of this Run shows; it has no map and no level."""
    claim = subject.claim
    told = RunTold("this run", subject.trace, subject.verdict, claim)
    cause = told.tale.cause
    page: dict[str, Any] = {
        "format": FORMAT,
        "title": subject.recipe.name,
        "outcome": subject.verdict.outcome,
        "claim": claim,
        "said": said_of(subject.verdict, subject.violation),
        "setting": cause.setting if cause is not None else "",
        "cause": cause.text if cause is not None else "",
        "causeSteps": sorted({*cause.steps}) if cause is not None else [],
        "sentences": told.sentences,
        "figures": figures(subject),
        "again": subject.again,
        "issue": subject.issue,
        "race": race_of_page(subject),
        "runs": [],
        "calm": NONE,
        "whatIf": [],
        "growth": [
            {"step": each.point, "failed": each.failed, "runs": each.runs} for each in subject.rates
        ],
        "looked": looked(subject),
        "keep": keep(subject),
        "map": None,
        "level": None,
    }
    turned = list(flips(subject))
    page["whatIf"] = [_what_if(flip) for flip in turned]
    runs = _Runs(page, told, subject.trace)
    if subject.calm is not None:
        calm = subject.calm
        page["calm"] = runs.place(calm.name, calm.trace, calm.verdict, claim)
    elif not len(subject.race) and not subject.verdict.attended:
        page["calm"] = 0
    for shown, flip in zip(page["whatIf"], turned, strict=True):
        shown["run"] = runs.place(flip.name, flip.trace, flip.verdict, claim)
    # Last, since it has a size of its own: the Runs are given room as if there were none.
    if subject.map is not None:
        page["map"] = subject.map.as_dict()
    return page


def _what_if(flip: Flip) -> dict[str, Any]:
    return {
        "said": flip.said,
        "kind": flip.kind,
        "isNeeded": flip.is_needed,
        "outcome": flip.verdict.outcome,
        "shown": flip.shown,
        "run": NONE,
    }


class _Runs:
    """The Runs of a page, each once, as long as there is room."""

    def __init__(self, page: dict[str, Any], told: RunTold, trace: Trace) -> None:
        self._runs = page["runs"]
        self._places = {_name_of(trace): 0}
        bare = len(encode(page))
        for rows_max in ROWS:
            data = told.data(rows_max, tells=True)
            self._left = BYTES_MAX - bare - len(encode(data))
            if self._left >= 0:
                break
        self._runs.append(data)

    def place(self, name: str, trace: Trace, verdict: Verdict, claim: str) -> int:
        """The index of that Run; -1 if there is no room for it."""
        known = _name_of(trace)
        if known in self._places:
            return self._places[known]
        told = RunTold(name, trace, verdict, claim)
        for rows_max in ROWS:
            data = told.data(rows_max)
            size = len(encode(data)) + 1
            if size <= self._left:
                self._left -= size
                self._places[known] = len(self._runs)
                self._runs.append(data)
                return self._places[known]
        return NONE


def _name_of(trace: Trace) -> tuple[Any, ...]:
    """Equal for two Runs in which the same happened."""
    return (tuple(trace.header.get("switches", {}).items()), body_of(trace))
