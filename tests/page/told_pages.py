"""What tests of the page are shown: race files as pages, and a page's rows added up."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import attrs

from testbed.cli.explained import lines_tried, of_race
from testbed.cli.races import open_race
from testbed.page.data import page_data
from testbed.page.subject import PageSubject
from testbed.races.trust import trust_named

ROOT = Path(__file__).parent.parent.parent
RACES = {
    path.name.removesuffix(".race.yaml"): path
    for path in sorted((ROOT / "scenarios").glob("*/*.race.yaml"))
}
"""The race files that come along, by name."""
Row = dict[str, Any]


@cache
def subject_of(name: str) -> PageSubject:
    """The race of that name, played, with its calm run and the lines that it needs."""
    run = of_race(open_race(str(RACES[name]), trust_named(None, ())))
    calm = run.calm if len(run.race) else None
    tried = lines_tried(run)
    return PageSubject(
        run.recipe, run.race, run.trace, run.verdict, "again", "", f"{name}.race.yaml", run.text,
        calm, tried,
    )  # fmt: skip


@cache
def page_of(name: str) -> dict[str, Any]:
    """The data of the page of that race."""
    return page_data(subject_of(name))


@attrs.define
class AddedUp:
    """What there is after some rows of a page: by key, the version of each object."""

    truth: dict[str, Row] = attrs.field(factory=dict)
    beliefs: dict[str, dict[str, Row]] = attrs.field(factory=dict)
    """By lane."""

    def add(self, run: dict[str, Any], row: Row) -> None:
        """Take what has changed in one more row."""
        _take(self.truth, row["truth"], run["versions"])
        for belief in row["beliefs"]:
            believed = self.beliefs.setdefault(belief["lane"], {})
            _take(believed, belief["changed"], run["versions"])

    @property
    def revisions(self) -> dict[str, int]:
        """The revision of each object that is there."""
        return {key: version["rv"] for key, version in self.truth.items()}


def _take(known: dict[str, Row], changed: list[tuple[str, int]], versions: list[Row]) -> None:
    for key, index in changed:
        if index < 0:
            del known[key]
        else:
            assert versions[index]["key"] == key
            assert versions[index] != known.get(key), "it is said to change, and stays"
            known[key] = versions[index]


def arrows_of(run: dict[str, Any], **fields: Any) -> list[Row]:
    """The arrows of a Run that have these fields."""
    return [arrow for arrow in run["arrows"] if all(arrow[name] == v for name, v in fields.items())]
