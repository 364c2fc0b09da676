"""Pages: what `explain --page` and `search --page` write, and where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.cli import main, mapped
from testbed.cli.explained import played
from testbed.cli.mapped import Maps
from testbed.maps.state_map import StateMap
from testbed.races.trust import Trust
from testbed.world.scenario import find

Called = Callable[..., tuple[int, str, str]]
RACE = """\
scenario: lost_update
holds:
  - hold: alpha update notes/default/list
    until: beta get notes/default/list
"""
CALM = "scenario: lost_update\n"


@pytest.fixture
def called(own: Path, capsys: pytest.CaptureFixture[str]) -> Called:
    """Beside two race files: call the testbed; exit code, output, errors."""
    (own / "race.yaml").write_text(RACE)
    (own / "calm.race.yaml").write_text(CALM)

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([*words])
        done = capsys.readouterr()
        return code, done.out, done.err

    return call


def is_page(path: str, *said: str) -> bool:
    """Whether that file is a page which says all of that."""
    text = Path(path).read_text(encoding="utf-8")
    return text.startswith("<!") and all(each in text for each in said)


def test_explain_writes_one_page(called: Called) -> None:
    """Beside the story; the last line names it. It is overwritten the next time."""
    for _ in range(2):
        code, out, err = called("explain", "race.yaml", "--page", "new/r.html")
        assert (code, err) == (1, "")
        assert out.splitlines()[-2:] == [
            "Again: testbed explain race.yaml",
            f"Page: {Path('new/r.html')}",
        ]
    assert is_page("new/r.html", "lost_update", "every_signature_is_kept")
    assert [path.name for path in Path("new").iterdir()] == ["r.html"]


def test_the_page_is_named_beside_other_forms(called: Called) -> None:
    """In JSON it is a field; beside Markdown, which is to be pasted, it is said elsewhere."""
    _, out, _ = called("explain", "race.yaml", "--json", "--page", "r.html")
    assert json.loads(out)["page"] == "r.html"
    _, out, err = called("explain", "race.yaml", "--md", "--page", "r.html")
    assert "r.html" not in out
    assert err == "Page: r.html\n"
    _, out, _ = called("explain", "race.yaml", "--json")
    assert "page" not in json.loads(out)


def test_the_page_shows_how_the_chance_to_fail_grows(called: Called) -> None:
    """If that was asked for."""
    called("explain", "race.yaml", "--growth", "--page", "r.html")
    assert '"growth":[{"step":0,' in Path("r.html").read_text()


def test_a_scenario_is_told_by_its_calm_run(called: Called) -> None:
    """Its name stands for a file; a page of it has that name in a folder."""
    code, out, err = called("explain", "lost_update", "--page", "pages")
    assert (code, err) == (0, "")
    assert out.splitlines()[-3].startswith("Held. Looked at: 1 run (calm)")
    assert out.splitlines()[-2] == "Again: testbed explain lost_update"
    assert is_page("pages/lost_update.html", "testbed run lost_update")


def test_a_scenario_of_the_users_own_is_told(called: Called, own: Path) -> None:
    """Named by its file, as everywhere."""
    (own / "mine.py").write_text("def quiet(world):\n    'Nothing happens.'\n")
    code, out, err = called("explain", "mine.py:quiet", "--page", "pages")
    assert (code, err) == (0, "")
    assert out.splitlines()[-2] == "Again: testbed explain mine.py:quiet"
    assert is_page("pages/quiet.html")
    code, _, err = called("explain", "lost_update", "--scenario", "mine.py:quiet")
    assert code == 2
    assert "leave --scenario out" in err


def test_a_file_that_is_not_there_is_no_scenario(called: Called) -> None:
    """What is said of it is what is said of a file."""
    for name in ("lost_updat", "lost_update.yaml"):
        code, _, err = called("explain", name)
        assert code == 2
        assert name in err


def test_of_several_files_each_has_its_page(called: Called) -> None:
    """In the folder, under the name of its file."""
    code, out, _ = called("explain", "race.yaml", "calm.race.yaml", "--page", "pages")
    assert code == 1
    pages = [Path("pages/race.html"), Path("pages/calm.html")]
    assert [line for line in out.splitlines() if line.startswith("Page:")] == [
        f"Page: {path}" for path in pages
    ]
    assert all(is_page(str(path)) for path in pages)


def test_one_page_for_several_files_is_refused(called: Called, own: Path) -> None:
    """So are two pages of one name: nothing is played, and nothing written."""
    code, out, err = called("explain", "race.yaml", "calm.race.yaml", "--page", "r.html")
    assert (code, out) == (2, "")
    assert "one page for 2 files" in err
    (own / "race.race.yaml").write_text(RACE)
    code, out, err = called("explain", "race.yaml", "race.race.yaml", "--page", "pages")
    assert (code, out) == (2, "")
    assert "race.yaml and race.race.yaml would both be" in err
    assert not list(Path().glob("**/*.html"))


def test_a_page_never_takes_the_place_of_another_file(called: Called) -> None:
    """Only a name that ends in .html is that of a page, so a race file stays what it is."""
    code, _, err = called("explain", "race.yaml", "--page", "race.yaml")
    assert code == 2
    assert "cannot be written" in err
    assert Path("race.yaml").read_text() == RACE


def test_a_recorded_run_has_a_page(called: Called) -> None:
    """Its race is the one that the trace was written as."""
    called("run", "lost_update", "--seed", "4", "--trace", "it.jsonl")
    called("explain", "it.jsonl", "--page", "pages")
    assert is_page("pages/it.html", "testbed replay it.jsonl")


def test_search_writes_a_page_of_each_race(called: Called) -> None:
    """Under the name of its race file, with a list of them."""
    words = ("search", "lost_update", "--runs", "30", "--jobs", "1", "--page", "pages")
    code, out, _ = called(*words)
    assert code == 1
    stem = "lost_update-every_signature_is_kept"
    assert f"  page:    {Path('pages', stem)}.html" in out.splitlines()
    assert "--page pages" in out.splitlines()[-1]
    assert is_page(f"pages/{stem}.html", f"testbed replay races/{stem}.race.yaml")
    assert is_page("pages/index.html", f'href="{stem}.html"', "every_signature_is_kept")
    _, out, _ = called(*words, "--json")
    assert [each["page"] for each in json.loads(out)["findings"]] == [f"pages/{stem}.html"]


def test_search_refuses_what_is_no_folder_before_it_plays(called: Called) -> None:
    """A file that is there, and a name that is that of one page."""
    for name in ("race.yaml", "pages.html"):
        code, out, err = called("search", "lost_update", "--page", name)
        assert (code, out) == (2, "")
        assert f"--page {name}" in err


def test_a_search_without_pages_writes_none(called: Called) -> None:
    """Nor says a word of them."""
    _, out, _ = called("search", "lost_update", "--runs", "30", "--jobs", "1")
    assert "page:" not in out
    assert not list(Path().glob("**/*.html"))


MOODY = """\
from testbed.errors import HarnessBug, ReplayDiverged
from testbed.words import counted
from testbed import Actor, always
from testbed.objects import Note
import attrs


@attrs.frozen
class Signs(Actor):
    async def run(self, client):
        note = await client.get(Note, "list")
        await client.update(note.saying(signed=self.name), whatever_it_was=True)


def it_is_never_signed(see):
    (entry,) = see.store.snapshot("notes/")
    return "it is signed" if entry.value.data else None


def moody(world):
    "Raises when it is told on a page."
    import traceback
    if any("searching/pages.py" in frame.filename for frame in traceback.extract_stack()):
        fail()
    world.add(Note("list"))
    world.start(Signs("alpha"))
    world.claim(always(it_is_never_signed))
"""


FAIL = "\n\ndef fail():\n    "


def test_a_race_that_cannot_be_told_has_no_page(called: Called, own: Path) -> None:
    """The report says why; it is a Finding all the same."""
    (own / "mine.py").write_text(f"{MOODY}{FAIL}raise ValueError('no page of me')")
    words = ("search", "mine.py:moody", "--runs", "5", "--jobs", "1", "--page", "pages")
    code, out, _ = called(*words)
    assert code == 1
    assert "  page:    none, played again, it raises ValueError: no page of me" in out.splitlines()
    assert not list(Path("pages").iterdir())
    _, out, _ = called(*words, "--json")
    assert [each["page"] for each in json.loads(out)["findings"]] == [None]


@pytest.mark.parametrize(
    "fail",
    [
        "raise HarnessBug('a table without legs')",
        "raise ReplayDiverged('it came otherwise')",
        "counted(None, 'page')",  # it raises in a file of the testbed
    ],
)
def test_a_bug_of_the_testbed_is_not_taken_for_the_scenarios(
    called: Called, own: Path, fail: str
) -> None:
    """It ends the search, and is reported as what it is."""
    (own / "mine.py").write_text(f"{MOODY}{FAIL}{fail}")
    code, out, _ = called(
        "search", "mine.py:moody", "--runs", "5", "--jobs", "1", "--page", "pages"
    )
    assert code == 4
    assert "played again, it raises" not in out


def test_a_list_of_pages_that_cannot_be_written_is_said_once(called: Called, own: Path) -> None:
    """The pages are written all the same, and the search goes on to its end."""
    (own / "pages" / "index.html").mkdir(parents=True)
    code, out, err = called(
        "search", "half_moved", "--runs", "60", "--jobs", "1", "--page", "pages"
    )
    assert code == 1
    assert "  page:    pages" in out
    assert err.count("No list of the pages: ") == 1
    assert "cannot be written" in err
    assert not list(Path("pages").glob("*.new"))


def test_a_page_leaves_the_files_beside_it_alone(called: Called, own: Path) -> None:
    """Whatever their names are; and it leaves nothing behind if it cannot be written."""
    for name in ("r.html.new", "r.html.1.new"):
        (own / name).write_text("mine")
    called("explain", "race.yaml", "--page", "r.html")
    assert is_page("r.html")
    (own / "no.html").mkdir()
    code, _, err = called("explain", "race.yaml", "--page", "no.html")
    assert code == 2
    assert "cannot be written" in err
    assert {path.name: path.read_text() for path in own.glob("*.new")} == {
        "r.html.new": "mine", "r.html.1.new": "mine",
    }  # fmt: skip


def test_the_calm_run_is_played_once(called: Called) -> None:
    """The story as Markdown and the picture beside it are of the same Run."""
    run = played("race.yaml", Trust(None, ()))
    assert run.has_calm
    assert run.calm is run.calm


def test_a_small_world_is_on_the_page_as_a_map(called: Called) -> None:
    """Unasked, if its calm run is short; a map that is asked for needs a page."""
    called("explain", "race.yaml", "--page", "r.html")
    assert is_page("r.html", '"map":{"said":"lost_update ')
    assert called("explain", "race.yaml", "--map") == (
        2, "", "ScenarioError: --map: a map stands on a page.\nNext: say --page FILE.html as well\n"
    )  # fmt: skip


def test_a_large_world_has_no_map(called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unasked it is not even tried; asked for, it is said why there is none."""
    monkeypatch.setattr(mapped, "STATES_MAX", 20)
    monkeypatch.setattr(mapped, "TURNS_MAX", 5)
    _, _, err = called("explain", "race.yaml", "--page", "r.html")
    assert err == ""
    assert is_page("r.html", '"map":null')
    code, _, err = called("explain", "race.yaml", "--map", "--page", "r.html")
    assert code == 1
    assert err.startswith("No map: lost_update has more than 20 states (")
    assert is_page("r.html", '"map":null')


def test_a_map_that_takes_too_much_work_is_given_up(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unasked only: by the turns that were played for it, so it is the same everywhere."""
    monkeypatch.setattr(mapped, "WORK_MAX", 100)
    _, _, err = called("explain", "race.yaml", "--page", "r.html")
    assert err == ""
    assert is_page("r.html", '"map":null')
    called("explain", "race.yaml", "--map", "--page", "r.html")
    assert is_page("r.html", '"map":{"said":"lost_update ')


def test_pages_of_one_world_share_its_map() -> None:
    """Under the same switches, said as a text or not, and with the same faults."""
    recipe, maps = find("lost_update"), Maps()
    made = maps.of(recipe, {})
    assert isinstance(made, StateMap)
    assert maps.of(recipe, {"guard": False}) is made
    assert maps.of(recipe, {"guard": "off"}) is made
    assert maps.of(recipe, {"guard": "on"}) is not made
    assert maps.of(find("two_defaults"), {}) is not made


def test_it_is_said_why_there_is_no_map(called: Called, own: Path) -> None:
    """Of a race that leaves part of its scenario out, if a map was asked for."""
    (own / "part.race.yaml").write_text("scenario: lost_update\nwithout: [beta]\n")
    _, _, err = called("explain", "part.race.yaml", "--page", "r.html")
    assert err == ""
    _, _, err = called("explain", "part.race.yaml", "--map", "--page", "r.html")
    assert err == "No map: beta left out; a map is that of the whole scenario.\n"
    assert is_page("r.html", '"map":null')
