"""The pages of a search: one of each race, and a list of them, in a folder."""

from __future__ import annotations

from html import escape
from pathlib import Path

from testbed.cli.explained import HTML, lines_tried, of_race, write_page, write_page_of
from testbed.cli.mapped import Maps
from testbed.cli.output import tell
from testbed.cli.races import NamedRace, stem_of
from testbed.cli.raised import raised_by_theirs
from testbed.cli.searching.folder import Races
from testbed.errors import HarnessBug, HarnessError, ReplayDiverged, ScenarioError
from testbed.races.racefile import parse
from testbed.races.trust import trust_in
from testbed.search.finding import Finding

RETOLD_MAX = 4
"""How often a race with real programs is played again, if it breaches nothing when it is told."""
INDEX = "index.html"
STYLE = "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}"


class Pages:
    """Writes the page of each Finding, once it is shrunk."""

    def __init__(self, folder: Path | None, races: Races) -> None:
        self._folder = folder
        self._races = races
        self._written: dict[str, tuple[Finding, Path]] = {}
        """By the name of a Finding: its page."""
        self._maps = Maps()
        self._is_listed = True
        """Whether the list of them could be written so far."""

    def write(self, finding: Finding) -> None:
        """Write the page of that race beside those of the others, under the name of its file."""
        if self._folder is None:
            return
        races, file = self._races, self._races.path(finding)
        path = self._folder / f"{stem_of(Path(file).name)}.html"
        race = parse(finding.race, file)
        trust = trust_in(races.recipe.name, races.folders)
        try:
            run = of_race(NamedRace(file, finding.race, race, races.recipe, trust), RETOLD_MAX)
            write_page_of(run, path, lines_tried(run), maps=self._maps)
        except (HarnessBug, ReplayDiverged):
            raise
        except HarnessError as error:
            races.pages[finding.name] = str(error)
        except Exception as error:
            if raised_by_theirs(error) is None:
                raise
            why = f"played again, it raises {type(error).__name__}: {error}"
            races.pages[finding.name] = why
        else:
            races.pages[finding.name] = path
            self._written[finding.name] = finding, path
            self._list_them(self._folder)

    def _list_them(self, folder: Path) -> None:
        """Write the list of all pages; that it cannot be written is said once."""
        title = escape(self._races.recipe.name)
        items = [
            f'<li><a href="{escape(path.name)}">{escape(finding.invariant)}</a>: '
            f"{escape(finding.said)}</li>"
            for finding, path in self._written.values()
        ]
        page = [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'\">",
            f"<title>{title}</title><style>{STYLE}</style></head>",
            f"<body><h1>{title}</h1><ul>",
            *items,
            "</ul></body></html>",
        ]
        try:
            write_page(folder / INDEX, "\n".join(page) + "\n")
        except ScenarioError as error:
            if self._is_listed:
                self._is_listed = False
                tell(f"No list of the pages: {error}")


def pages_in(given: str | None, races: Races) -> Pages:
    """The pages of a search; ScenarioError if none could be written there: better now than after
    the Runs. If no folder is given, none is written."""
    if given is None:
        return Pages(None, races)
    folder = Path(given)
    if folder.suffix.lower() in HTML:
        raise ScenarioError(
            f"--page {folder}: expected a folder, for a page of each race.\n"
            f"Next: --page {folder.with_suffix('')}"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScenarioError(
            f"--page {folder}: {error.strerror}.\nNext: name a folder, such as --page pages"
        ) from error
    return Pages(folder, races)
