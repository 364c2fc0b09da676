"""The command line: what each command prints and returns, and every error a user can reach."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import zlib
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from textwrap import dedent
from typing import Any

import attrs
import click
import pytest

from testbed.cli import COMMANDS, group, main
from testbed.turns.recorded import load
from testbed.version import VERSION
from testbed.world.chooser_kinds import known as known_choosers
from testbed.world.scenario import known
from tests.each_row import each_row
from tests.shared.golden import Stories

ROOT = Path(__file__).parent.parent.parent
VERDICT_KEYS = [
    "verdict", "end", "violations", "turns", "virtual_ms", "faults", "chooser", "note",
]  # fmt: skip

OWN = {
    "mine": """
        from testbed import Calm, Client, Plan, World, always, quiescent
        from testbed.client.actor import Actor
        from testbed.chooser import Chooser
        from testbed.objects import Map, Note
        import attrs

        @attrs.frozen
        class Writer(Actor):
            async def run(self, client):
                await client.create(Note(f"by-{self.name}"))
                client.record("wrote")

        @attrs.frozen
        class Restless(Actor):
            async def run(self, client):
                while True:
                    await client.sleep(1000 + client.now() % 2, "nap")

        def race(world, *, guard=False, mode="plain"):
            "A scenario of one's own."
            world.start(Writer("alpha"), Writer("beta"))

        def endless(world, *, guard=False):
            "Ends only at a limit."
            world.start(Restless("alpha"))
            world.limit(turns_max=50)

        def typo(world, *, guard=False):
            world.start(Wrtier("alpha"))

        def exits(world, *, guard=False):
            raise SystemExit(0)

        class Cold(Actor):
            def __init__(self, name):
                self.name = name

        def thaws(world, *, guard=False):
            world.start(Cold("alpha"))

        def wrong_claim(see):
            return see.records[7].name

        def claims_wrongly(world, *, guard=False):
            race(world)
            world.claim(quiescent(wrong_claim))

        class Last(Chooser):
            def begin(self, run):
                return Plan("the last one")
            def choose(self, options):
                return options.ready - 1

        class Seeded(Last):
            def __init__(self, seed=0):
                self.seed = seed
            def begin(self, run):
                return Plan(f"seeded with {self.seed}")

        class Needy(Last):
            def __init__(self, weights):
                self.weights = weights

        class Lost(Last):
            def choose(self, options):
                return 99
    """,
    "dice": """
        import random
        import attrs
        from testbed.client.actor import Actor
        from testbed.errors import ApiError
        from testbed.objects import Note
        from testbed.objects.meta import Map

        NAMES = {f"name-{number}" for number in range(20)}

        @attrs.frozen
        class Writer(Actor):
            how: str
            async def run(self, client):
                for name in globals()[self.how]():
                    await client.create(Note(name))

        def by_chance():
            return [f"n{random.getrandbits(64)}" for _ in range(3)]

        def by_address():
            return [f"n{id(object())}-{id([])}" for _ in range(3)]

        def by_hash():
            return NAMES

        def by_state(count=[0]):
            count[0] += 1
            return [f"n{count[0]}"]

        def dice(world, *, guard=False, how="by_chance"):
            world.start(Writer("alpha", how))

        @attrs.frozen
        class Teller(Actor):
            how: str
            async def run(self, client):
                told = str(list(globals()[self.how]()))
                try:
                    await client.create(Note("told", data=Map(told=told)))
                except ApiError:
                    await client.get(Note, "told")

        def content(world, *, guard=False, how="by_chance"):
            world.start(Teller("alpha", how), Teller("beta", how))
    """,
    "marker": """
        from pathlib import Path
        Path("imported").touch()
        def race(world, *, guard=False):
            "Nobody asked for it."
    """,
    "exits": "raise SystemExit(0)",
    "half": "def race(world:",
}


@pytest.fixture(autouse=True)
def _own_files(own: Path) -> None:
    """Scenarios and choosers of the user's own, in the current folder."""
    for name, text in OWN.items():
        (own / f"{name}.py").write_text(dedent(text))


@attrs.frozen
class Done:
    """What a command has printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object it printed, on one line."""
        assert self.out.count("\n") == 1
        content = json.loads(self.out)
        assert isinstance(content, dict)
        return content


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command line within this process."""

    def call(*args: str) -> Done:
        capsys.readouterr()
        code = main(list(args))
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call


def spawned(*args: str, **more: Any) -> Done:
    """Call it as another process."""
    done = subprocess.run(
        [sys.executable, "-m", "testbed", *args],
        capture_output=True,
        text=True,
        timeout=300,
        **more,
    )
    return Done(done.returncode, done.stdout, done.stderr)


# -- help -----------------------------------------------------------------------------------------


@each_row("words", [[], *[[name] for name in COMMANDS]])
def test_every_command_has_help(words: list[str], run: Run) -> None:
    """Usage, what it does, each option with a sentence, and the exit codes."""
    done = run(*words, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" ".join(["Usage: testbed", *words]))
    said = " ".join(done.out.split())
    assert said.endswith(
        "Exit codes: 0 held, 1 violated, 2 usage, 3 undecided, 4 our bug or nondeterminism, "
        "130 interrupted."
    )
    command = group
    for word in words:
        found = command.get_command(click.Context(command), word)
        assert found is not None
        options = [param for param in found.params if isinstance(param, click.Option)]
        assert all(option.help for option in options)
        assert "--json" in said


def test_help_names_every_command(run: Run) -> None:
    """Each with its first line, in the order in which a newcomer meets them."""
    out = run("--help").out
    for name, line in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", out, re.MULTILINE)
    assert list(COMMANDS) == [
        "demo", "list", "show", "init", "learn", "run", "search", "sweep", "compare", "certify",
        "attach", "serve", "replay", "explain", "check", "keep", "manifest", "switches", "mutants",
        "grade", "bench",
    ]  # fmt: skip


def test_without_a_command_help_is_shown_and_it_is_a_usage_error(run: Run) -> None:
    """On standard error: a script that forgot the command has not succeeded."""
    done = run()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: testbed")


def test_the_version_is_told(run: Run) -> None:
    """It stands in every trace as well."""
    assert run("--version").out == f"testbed, version {VERSION}\n"


def test_help_loads_no_dependency_but_click() -> None:
    """`testbed --help` is to be instant: nothing that plays, draws or measures is loaded."""
    code = """
        import sys
        from testbed.cli import main
        main(["--help"])
        heavy = "attrs attr trio hypothesis networkx numpy msgspec sortedcontainers pytest jinja2"
        heavy = heavy.split()
        print("loaded:", *[name for name in heavy if name in sys.modules])
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_what_plays_loads_nothing_of_pages_and_levels() -> None:
    """Nor of the libraries that only those need."""
    code = """
        import sys
        from testbed.cli import main
        main(["run", "lost_update", "--json"])
        rooms = "jinja2 testbed.page testbed.maps testbed.teaching scenarios.levels".split()
        print("loaded:", *[name for name in rooms if name in sys.modules])
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "loaded:"


# -- demo and list --------------------------------------------------------------------------------


def test_demo_finds_a_race_and_tells_it(run: Run, stories: Stories) -> None:
    """It exits 0, for it has shown what it came to show: the calm run, what must be late, the
    story, the guard, and what to try next. Piped, it is plain text."""
    done = run("demo")
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    stories.check("demo", done.out)


def test_demo_tells_it_to_programs_too_and_what_it_says_to_try_next_works(
    run: Run, stories: Stories
) -> None:
    """The same, as one object. Each line can be pasted; the first finds the same race again, and
    the second none."""
    done = run("demo", "--json")
    assert done.code == 0
    assert list(done.json) == [
        *VERDICT_KEYS, "scenario", "story", "race", "again", "runs", "shrunk_in", "calm", "guarded",
    ]  # fmt: skip
    assert done.json["verdict"] == "violated"
    assert done.json["calm"]["verdict"] == "held"
    assert done.json["guarded"] == {"runs": 40, "held": 40}
    assert done.json["race"].startswith("scenario: stolen_slot\n")
    assert done.json["again"] == "testbed search stolen_slot --until-first"
    shown = (stories.folder / "demo.txt").read_text(encoding="utf-8")
    lines = [line.split("  ")[1] for line in shown.partition("\nNext:\n")[2].splitlines()]
    assert [line.partition(" ")[0] for line in lines] == ["testbed"] * 4
    found, guarded, *others = (run(*line.split()[1:], "--json") for line in lines)
    assert found.code == 1
    assert found.json["findings"][0]["race"] == done.json["race"]
    assert guarded.code == 0
    assert [each.code for each in others] == [0, 0]


def test_list_shows_scenarios_by_theme(run: Run) -> None:
    """A line for each theme, one for each scenario with its title, and where to go on."""
    out = run("list").out
    assert re.search(r"^  lost_update +Writers sign a list by read, change and", out, re.MULTILINE)
    found = re.findall(r"^  (\w+) ", out, re.MULTILINE)
    assert sorted(found) == [scenario.name for scenario in known()]
    assert out.startswith("basics: Races of any clients of one store")
    assert out.splitlines()[-1] == f"Next: testbed show {found[0]}"


def test_list_shows_them_to_programs(run: Run) -> None:
    """All that is known of each, and the default of each switch."""
    scenarios = run("list", "--json").json["scenarios"]
    keys = [
        "name", "title", "theme", "kind", "components", "issues", "cause", "look_for", "source",
        "tags", "switches",
    ]  # fmt: skip
    assert [list(scenario) for scenario in scenarios] == [keys] * len(known())
    (found,) = [each for each in scenarios if each["switches"].get("writers")]
    assert (found["name"], found["theme"], found["kind"]) == ("lost_update", "basics", "pair")
    assert found["switches"] == {"guard": "off", "writers": 2}


@each_row(
    ("options", "first", "count"),
    [
        ("--theme leaders", "handed_over", 2),
        ("--component yunikorn", "daemonset_preemption", 1),
        ("--issue kubernetes#105523", "restart_readmission", 1),
        ("--issue autoscaler --theme autoscaling", "add_remove_loop", None),
        ("--like overspending", "pdb_overspent", 1),
        ("--like 'lost update'", "lost_update", 1),
        ("--kind control --theme slots", "one_scheduler", 1),
        ("--tag pressure --kind lesson", "two_gigabytes", 2),
        ("--source 'pod preemption' --theme budgets", "budget_is_best_effort", 1),
        ("--like zzz", "", 0),
    ],
)
def test_list_finds_what_is_asked_for(
    run: Run, options: str, first: str, count: int | None
) -> None:
    """By theme, part, issue, kind, or words; nothing is an answer, too."""
    words = shlex.split(options)
    found = [each["name"] for each in run("list", *words, "--json").json["scenarios"]]
    assert count in (None, len(found))
    assert found[:1] == ([first] if first else [])
    out = run("list", *words).out
    assert f"  {first} " in out if first else out.startswith("No scenario is like that.")


@each_row("option", ["theme", "component", "kind", "tag"])
def test_list_says_what_there_is(run: Run, option: str) -> None:
    """Of what is asked for by a name that is none."""
    done = run("list", f"--{option}", "zzz")
    assert (done.code, f"there is no {option} 'zzz'" in done.err) == (2, True)
    assert "Known: " in done.err


def test_show_prints_the_page_and_tells_both_sides(run: Run) -> None:
    """What happens, who is in it, and with what; its race, and what becomes of that with the guard
    off and on."""
    done = run("show", "late_bind")
    assert done.code == 0
    page, _, told = done.out.partition("scenarios/caches/late_bind.race.yaml):\n")
    assert page.startswith("late_bind (caches, pair)\n\nThe scheduler is told that a bind has fail")
    assert re.search(r"^  cause     .+[.]$", page, re.MULTILINE)
    assert re.search(r"^  made of   apiserver, scheduler$", page, re.MULTILINE)
    assert re.search(r"^  claims    no_place_is_given_twice$", page, re.MULTILINE)
    assert re.search(r"^  may fail  lose_reply default-scheduler 1 time$", page, re.MULTILINE)
    assert re.search(r"^  switches  guard=off, kubelet=off$", page, re.MULTILINE)
    assert re.search(r"^  lose_reply: default-scheduler", told, re.MULTILINE)
    assert "\nWith guard=off: violated, no_place_is_given_twice.\n" in told
    assert "So no_place_is_given_twice is broken:" in told
    assert re.search(r"^With guard=on: held[.]", told, re.MULTILINE)
    assert done.out.splitlines()[-1] == "Next: testbed search late_bind --until-first"


def test_show_tells_a_race_that_needs_nothing_late(run: Run) -> None:
    """It says so, and shows no lines."""
    out = run("show", "tug_of_war").out
    assert "It needs no race:\n\nWith guard=off: violated, no_lasso.\n" in out
    assert "\nautoscaler and gitops undo each" in out


def test_show_says_where_the_guard_is_another_world(run: Run) -> None:
    """With it the lines may name nothing; then that it holds says little."""
    out = run("show", "out_of_cpu").out
    assert re.search(
        r"^With guard=on: held[.] \(\d of \d lines matched nothing there\)", out, re.MULTILINE
    )


def test_show_prints_the_page_alone(run: Run) -> None:
    """Nothing is played; programs get it, too."""
    done = run("show", "pdb_overspent", "--page")
    assert (done.code, "Its race" in done.out) == (0, False)
    assert "kubernetes#91492" in done.out
    page = run("show", "pdb_overspent", "--page", "--json").json
    assert page["page"].partition("\n")[0] == page["title"]
    told = run("show", "lost_update", "--json").json
    assert [side["outcome"] for side in told["sides"]] == ["violated", "held"]
    assert all(side["story"] for side in told["sides"])
    assert "scenario: lost_update" in told["race"]
    assert run("show", "lost_updat").code == 2


def test_show_searches_for_a_race_of_ones_own(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no theme, and no file beside it until one is kept there."""
    monkeypatch.chdir(tmp_path)
    lost = "from scenarios.basics import lost_update as theirs\n\n\n"
    lost += "def mine(world, *, guard: bool = False):\n    theirs.lost_update(world, guard=guard)\n"
    (tmp_path / "mine_own.py").write_text(lost, encoding="utf-8")
    out = run("show", "mine_own.py:mine").out
    assert "(your own, pair)" in out
    assert re.search(r"^Found in \d+ runs?, shrunk in \d+ more[.] It takes", out, re.MULTILINE)
    assert re.search(r"^With guard=on: held[.]", out, re.MULTILINE)
    run("search", "mine_own.py:mine", "--until-first")
    (found,) = (tmp_path / "races").glob("*.race.yaml")
    found.rename(tmp_path / "mine.race.yaml")
    assert "Its race (mine.race.yaml):" in run("show", "mine_own.py:mine").out


def test_show_tells_what_has_no_guard(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a control, that no Run breaches it; of a lesson, the calm Run. It says which it is."""
    monkeypatch.chdir(tmp_path)
    page = 'def {name}(world):\n    """Nothing happens.\n\n    Kind: {kind}.\n    """\n'
    for kind in ("control", "lesson", "leson"):
        (tmp_path / f"{kind}_one.py").write_text(page.format(name="one", kind=kind))
    out = run("show", "control_one.py:one").out
    assert "(your own, control)\n\nNothing happens.\n" in out
    assert "no breach in" in out
    out = run("show", "lesson_one.py:one").out
    assert "(your own, lesson)\n\nNothing happens.\n" in out
    assert "\nIts calm Run:\n" in out
    assert run("show", "lesson_one.py:one", "--json").json["race"] is None
    refused = run("show", "leson_one.py:one")
    assert refused.code == 2
    assert "`Kind: leson.`; expected control or lesson" in refused.err


# -- run ------------------------------------------------------------------------------------------


def test_run_without_a_seed_is_calm_and_holds(run: Run) -> None:
    """Exit code 0; the verdict says how far it looked; the last line can be pasted."""
    done = run("run", "lost_update")
    assert done == Done(
        0,
        "Held. Looked at: 1 run (calm), 10 turns, 0 ms virtual time, 0 faults.\n"
        "Again: testbed run lost_update\n",
        "",
    )


def test_a_violated_run_is_told_as_a_story(run: Run) -> None:
    """Exit code 1; the story first, then the verdict with the claim that was breached."""
    done = run("run", "lost_update", "--seed", "1")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("alpha updated notes/default/list (step 9), believing that its ")
    assert lines[3].split() == ["step", "alpha", "beta"]
    assert lines[-2].startswith("Violated: every_signature_is_kept: beta was told that it had sig")
    assert lines[-1] == "Again: testbed run lost_update --seed 1"


def test_the_same_seed_is_the_same_run_for_ever(run: Run) -> None:
    """To the letter, in this process and in another, under either driver."""
    told = run("run", "lost_update", "--seed", "1").out
    assert run("run", "lost_update", "--seed", "1").out == told
    assert spawned("run", "lost_update", "--seed", "1").out == told
    direct = run("run", "lost_update", "--seed", "1", "--driver", "direct").out
    assert direct.replace(" --driver direct", "") == told


def test_a_run_that_reaches_a_limit_is_undecided(run: Run) -> None:
    """Exit code 3, and which limit it was."""
    done = run("run", "mine:endless")
    assert (done.code, done.err) == (3, "")
    assert done.out.startswith("Undecided: turns_max: 50 turns were played; alpha would go on; ")
    assert run("run", "mine:endless", "--json").json["verdict"] == "undecided"


def test_run_tells_its_verdict_to_programs(run: Run) -> None:
    """One object with stable keys, whatever the verdict; exit codes as ever."""
    keys = [*VERDICT_KEYS, "scenario", "switches", "trace", "tried", "again"]
    held = run("run", "lost_update", "--json", "--switch", "guard=on", "--switch", "writers=3")
    assert (held.code, held.err, list(held.json)) == (0, "", keys)
    assert held.json["switches"] == {"guard": "on", "writers": 3}
    assert (held.json["verdict"], held.json["end"]) == ("held", "quiet")
    assert held.json["violations"] == []
    violated = run("run", "lost_update", "--json", "--seed", "1", "--trace", "race.jsonl")
    assert (violated.code, list(violated.json)) == (1, keys)
    assert violated.json["violations"] == [
        {
            "invariant": "every_signature_is_kept",
            "said": "beta was told that it had signed, and the list says 'alpha'",
            "reason": "taken back",
            "about": {"keys": ["notes/default/list"], "fields": [], "actors": ["beta", "alpha"]},
            "step": 10,
            "at_ms": 0,
        }
    ]
    assert violated.json["trace"] == "race.jsonl"
    assert violated.json["again"] == "testbed run lost_update --seed 1"


AGAIN = [
    ["run", "lost_update"],
    ["run", "lost_update", "--switch", "guard=on", "--switch", "writers=3", "--seed", "-4"],
    ["run", "lost_update", "--seed", "3", "--chooser", "calm"],
    ["run", "lost_update", "--chooser", "uniform", "--driver", "direct", "--audit"],
    ["run", "mine:race", "--switch", "mode=two words; and more"],
    ["run", "mine:race", "--seed", "2", "--chooser", "mine:Seeded"],
]


@each_row("words", AGAIN)
def test_the_last_line_says_all_that_was_asked(words: list[str], run: Run) -> None:
    """Pasted into a shell it is the same command: nothing is left out, all is quoted."""
    again = run(*words, "--json").json["again"]
    shell = subprocess.run(
        ["/bin/sh", "-c", f'testbed() {{ printf "%s\\n" "$@"; }}; {again}'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(shell.stdout.splitlines()) == sorted(words)


def test_a_scenario_of_ones_own_is_run_from_the_current_folder(run: Run) -> None:
    """As module:function, with switches; in another process too."""
    words = ("run", "mine:race", "--seed", "3", "--switch", "mode=other", "--json")
    done = run(*words)
    assert done.code == 0
    assert done.json["scenario"] == "mine:race"
    assert done.json["switches"] == {"guard": "off", "mode": "other"}
    assert spawned(*words) == done


def test_a_chooser_of_ones_own_decides(run: Run) -> None:
    """As module:Class; made from the seed if it takes one."""
    done = run("run", "mine:race", "--chooser", "mine:Last", "--trace", "last.jsonl", "--json")
    assert done.json["chooser"] == "the last one"
    assert load("last.jsonl").steps[0]["who"] == "beta/main"
    done = run("run", "mine:race", "--chooser", "mine:Seeded", "--seed", "7", "--json")
    assert done.json["chooser"] == "seeded with 7"


def test_a_read_that_was_not_declared_is_refused_under_audit(run: Run) -> None:
    """And only then."""
    Path("peeks.py").write_text(
        dedent("""
        import attrs
        from testbed import Actor, Cache
        from testbed.objects import Map, Note

        @attrs.frozen
        class Peeker(Actor):
            async def run(self, client):
                cache = Cache(client, Note, reads=("data.a",))
                await cache.synced()
                cache.get("n").data["b"]

        def peeks(world, *, guard=False):
            world.add(Note("n", data=Map(a="1", b="2")))
            world.start(Peeker("alpha"))
        """)
    )
    assert run("run", "peeks:peeks").code == 0
    done = run("run", "peeks:peeks", "--audit")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ScenarioError: ")
    assert "data.b" in done.err


# -- run --twice ----------------------------------------------------------------------------------


def test_a_deterministic_run_is_the_same_again(run: Run) -> None:
    """Played here twice and in two other processes; the verdict is what it is without."""
    for words in (("lost_update", "--seed", "1"), ("mine:race", "--chooser", "mine:Last")):
        assert run("run", *words, "--twice") == run("run", *words)


@pytest.mark.parametrize("how", ["by_chance", "by_address", "by_hash", "by_state"])
def test_whatever_else_decides_is_found_by_playing_again(how: str, run: Run) -> None:
    """Chance, an address, the order of a set, what a call before has left: exit code 4, the first
    line that differs, who moved last, and the line to paste."""
    done = run("run", "dice:dice", "--switch", f"how={how}", "--twice")
    assert (done.code, done.out) == (4, "")
    assert re.match(r"ReplayDiverged: line \d+ of the trace is not the same again:\n  {", done.err)
    assert "Look in alpha, which moved last, for a set, a clock, an id() or `random`.\n" in done.err
    again = f"testbed run dice:dice --switch how={how} --twice"
    assert done.err.endswith(f"Next: mend that, then play it twice again: {again}\n")


@pytest.mark.parametrize("how", ["by_hash", "by_state"])
def test_whatever_decides_what_is_written_is_found_as_well(how: str, run: Run) -> None:
    """No line of the trace says what an object holds: the requests are compared, in this process
    and with those of the others."""
    done = run("run", "dice:content", "--switch", f"how={how}", "--twice")
    assert (done.code, done.out) == (4, "")
    assert "`serve alpha/main create notes/default/told`: what it asked for was " in done.err
    again = f"testbed run dice:content --switch how={how} --twice"
    assert done.err.endswith(f"Next: mend that, then play it twice again: {again}\n")


@pytest.mark.parametrize("effort", ["complete", "quick"])
def test_whatever_else_decides_ends_a_search(effort: str, run: Run) -> None:
    """With exit code 4: what was found of such a World says nothing."""
    switch = ("--switch", "how=by_state")
    done = run("search", "dice:content", "--effort", effort, *switch, "--runs", "64")
    assert done.code == 4
    assert re.match(r"ReplayDiverged: .*/told.* now, after the same choices", done.err)
    assert "Most likely: `globals()`, in run (dice.py:" in done.err
    again = "testbed run dice:content --switch guard=off --switch how=by_state --twice"
    assert done.err.endswith(f"Next: {again}\n")


def test_another_process_imports_nothing_from_the_current_folder(run: Run) -> None:
    """A file there that is called like an installed module is the user's, and not that module."""
    for name in ("msgspec", "trio", "json", "attr"):
        Path(f"{name}.py").write_text("open('imported', 'w')\nraise ImportError('the wrong one')\n")
    done = run("run", "lost_update", "--twice")
    assert (done.code, done.err) == (0, "")
    assert not Path("imported").exists()


# -- replay ---------------------------------------------------------------------------------------


def record(run: Run, *words: str) -> Done:
    """Record a Run as race.jsonl."""
    done = run("run", *(words or ("lost_update", "--seed", "1")), "--trace", "race.jsonl")
    assert done.code in (0, 1, 3)
    return done


def test_a_recorded_run_is_replayed(run: Run) -> None:
    """What was printed when it was recorded can be pasted; the verdict and the story are the same,
    and that it is the same to the byte is said."""
    recorded = record(run)
    *told, verdict, last = recorded.out.splitlines()
    assert last == "Recorded: testbed replay race.jsonl"
    done = run(*last.removeprefix("Recorded: testbed ").split())
    assert done.code == recorded.code == 1
    assert done.out.splitlines() == [
        *told,
        verdict.replace("uniform, seed 1, run 0", "replayed"),
        "The same to the byte as recorded. Again: testbed replay race.jsonl",
    ]


def test_replay_tells_its_verdict_to_programs(run: Run) -> None:
    """The keys of `run`, and that it was the same."""
    record(run)
    done = run("replay", "race.jsonl", "--json")
    assert list(done.json) == [*VERDICT_KEYS, "scenario", "switches", "trace", "same", "again"]
    assert (done.code, done.json["same"], done.json["chooser"]) == (1, True, "replayed")


def test_a_replay_can_be_recorded_played_twice_and_carried_otherwise(run: Run) -> None:
    """The new file is the old one, to the byte; under the other driver as well."""
    record(run)
    words = ("--trace", "again.jsonl", "--twice", "--driver", "direct", "--audit")
    assert run("replay", "race.jsonl", *words).code == 1
    assert Path("again.jsonl").read_bytes() == Path("race.jsonl").read_bytes()


def test_an_undecided_run_is_replayed_to_its_limit(run: Run) -> None:
    """A limit ends the replay where it ended the Run; that of the size of a trace too, recorded
    again or not."""
    Path("long.py").write_text(
        "import mine\ndef race(world, *, guard=False):\n"
        "    mine.race(world)\n    world.limit(trace_bytes_max=600)\n"
    )
    for scenario in ("mine:endless", "long:race"):
        record(run, scenario)
        done = run("replay", "race.jsonl", "--scenario", scenario)
        assert (done.code, done.err) == (3, "")


def resum(raw: bytes) -> bytes:
    """The same lines, with sums that are right."""
    total, lines = 0, []
    for line in raw.splitlines():
        body = line.rpartition(b',"sum":')[0] + b"}"
        total = zlib.crc32(body, total)
        lines.append(body[:-1] + f',"sum":"{total:08x}"}}\n'.encode())
    return b"".join(lines)


def doctor(old: bytes, new: bytes, *, count: int = 1) -> None:
    """Change what stands in race.jsonl, and make the sums right."""
    raw = Path("race.jsonl").read_bytes()
    assert old in raw
    Path("race.jsonl").write_bytes(resum(raw.replace(old, new, count)))


def test_a_trace_of_another_version_is_replayed_and_that_is_said(run: Run) -> None:
    """Its choices are what counts: the steps must be the same, the version need not."""
    record(run)
    doctor(f'"testbed":"{VERSION}"'.encode(), b'"testbed":"0.0.9"')
    done = run("replay", "race.jsonl")
    assert done.code == 1
    assert done.out.splitlines()[-1] == (
        "The same to the byte as recorded, but for the version: recorded by 0.0.9, played by "
        f"{VERSION}. Again: testbed replay race.jsonl"
    )
    doctor(b'"rv":"4"', b'"rv":"5"')
    done = run("replay", "race.jsonl")
    assert (done.code, done.out) == (4, "")
    assert re.match(
        r"ReplayDiverged: step \d+, `.*`: 'rv' was \"5\" in the trace, and is ", done.err
    )


def test_an_interrupted_run_is_replayed_as_far_as_it_went(run: Run) -> None:
    """Its last line need not be the same: nobody interrupts it this time."""
    record(run)
    lines = Path("race.jsonl").read_bytes().splitlines(keepends=True)
    end = b'{"end":"interrupted after turn 4","verdict":"undecided","sum":""}\n'
    Path("race.jsonl").write_bytes(resum(b"".join([*lines[:5], end])))
    done = run("replay", "race.jsonl")
    assert (done.code, done.err) == (3, "")
    assert done.out.startswith("Undecided: cut: the chooser ended this run. Looked at: 1 run (rep")


def test_another_run_diverges_at_the_first_line_that_differs(run: Run) -> None:
    """What is not a choice is compared as well: both lines are shown, and who moved last."""
    record(run)
    doctor(b'"name":"signed"', b'"name":"sinned"')
    done = run("replay", "race.jsonl")
    assert (done.code, done.out) == (4, "")
    assert re.match(
        r"ReplayDiverged: line 9 of the trace is not the same again:\n"
        r'  {"record":1,.*"name":"sinned".*}\n'
        r'  {"record":1,.*"name":"signed".*}\n'
        r"Something outside the World decided, or the code has changed since. Look in beta, which "
        r"moved last, .*\nNext: see which of the two it is: testbed replay race.jsonl --twice\n",
        done.err,
    )


def test_a_choice_that_leads_elsewhere_diverges_there(run: Run) -> None:
    """At the choice, with what was taken and what there is now."""
    record(run)
    doctor(b'"do":"answer"', b'"do":"wake"')
    done = run("replay", "race.jsonl")
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("ReplayDiverged: at choice 5 of 10 the trace took option ")
    assert done.err.endswith(
        "Next: see which of the two it is: testbed replay race.jsonl --twice\n"
    )


@pytest.mark.parametrize("changed", [(b'"do":"answer"', b'"do":"wake"'), (b"signed", b"sinned")])
def test_a_recording_of_other_code_is_to_be_made_again(
    changed: tuple[bytes, bytes], run: Run
) -> None:
    """If it comes out otherwise in the same way each time, it is the code that has changed. The
    next step is not the command that has just failed."""
    record(run)
    doctor(*changed)
    done = run("replay", "race.jsonl", "--twice")
    assert (done.code, done.out) == (4, "")
    again = "testbed search lost_update --switch guard=off --switch writers=2 --until-first"
    assert done.err.endswith(f"Next: record it again: {again}\n")


@pytest.mark.parametrize("how", ["by_chance", "by_hash"])
def test_a_recording_that_chance_decides_is_told_apart(how: str, run: Run) -> None:
    """What goes wrong in another way each time, or not each time, is no change of the code."""
    record(run, "dice:dice", "--switch", f"how={how}")
    words = ("replay", "race.jsonl", "--scenario", "dice:dice")
    done = run(*words, "--twice")
    assert done.code == 4
    again = f"testbed {' '.join(words)} --twice"
    assert done.err.endswith(f"Next: mend that, then play it twice again: {again}\n")


def test_nothing_is_imported_that_a_file_alone_names(run: Run) -> None:
    """A trace of a scenario of one's own says so; it is played when the user names it as well, and
    only then is that module imported. The line that is shown does it."""
    record(run, "marker:race")
    Path("imported").unlink()
    del sys.modules["marker"]
    for words in ((), ("--scenario", "mine:race"), ("--scenario", "lost_update")):
        done = run("replay", "race.jsonl", *words)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("ScenarioError: ")
        assert not Path("imported").exists()
    pasted = done.err.splitlines()[-1].removeprefix("Next: testbed ").split()
    assert run(*pasted).code == 0
    assert Path("imported").exists()


@each_row("name", ["os", "os:system", "../x", "a b:c", "x; rm -rf ~", "", "\a:x"])
def test_a_trace_that_names_no_scenario_is_refused(name: str, run: Run) -> None:
    """Whatever it names instead; and what is shown of it is harmless to a terminal."""
    record(run)
    doctor(b'"scenario":"lost_update"', b'"scenario":' + json.dumps(name).encode())
    done = run("replay", "race.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "\nNext: " in done.err
    assert "\a" not in done.err


def test_the_trace_that_is_replayed_is_not_written_over(run: Run) -> None:
    """It may turn out to be another Run, and would be lost; by another path neither."""
    record(run)
    raw = Path("race.jsonl").read_bytes()
    Path("link").symlink_to("race.jsonl")
    for path in ("race.jsonl", "./race.jsonl", "link"):
        done = run("replay", "race.jsonl", "--trace", path)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"ScenarioError: --trace {path}: that is the file to be replay")
    assert Path("race.jsonl").read_bytes() == raw


# -- bench ----------------------------------------------------------------------------------------


def test_bench_prints_one_benchmark(run: Run) -> None:
    """Results on standard output, what it is doing on standard error."""
    words = ("bench", "determinism", "--runs", "2", "--crashes", "1", "--scenario", "double_bind")
    done = run(*words, "--driver", "direct")
    assert (done.code, done.err) == (0, "measuring determinism …\n")
    assert done.out.splitlines()[0] == "determinism"
    assert re.search(r"^  digest +[0-9a-f]{64}$", done.out, re.MULTILINE)
    again = run(*words, "--json", "--seed", "0")
    assert (again.json["runs"], again.json["scenarios"]) == (2, ["double_bind"])
    assert again.json["digest"] in done.out


def test_bench_prints_searches_as_a_table(run: Run) -> None:
    """A line for each race and Chooser; a median beyond all Runs is told as that."""
    words = ("bench", "search", "--seeds", "2", "--runs-max", "3", "--scenario", "late_short_write")
    done = run(*words, "--chooser", "uniform")
    assert (done.code, done.err) == (0, "measuring search …\n")
    title, head, alike, found = done.out.splitlines()
    assert title == "search"
    assert head.split() == [
        "scenario", "chooser", "median", "95", "in", "100", "censored", "shrunk", "runs/s",
    ]  # fmt: skip
    assert alike.split() == ["late_short_write", "(all", "alike)", "29"]
    assert re.fullmatch(
        r"  late_short_write  uniform +more +more to more +2 of 2 +- +[0-9]+", found
    ), found
    figures = run(*words, "--chooser", "uniform", "--json").json["late_short_write"]
    assert figures["uniform"]["censored"] == 2
    assert (figures["uniform"]["shrunk"], figures["uniform"]["lines"]) == (None, [])


def test_bench_prints_what_a_search_is_shrunk_to(run: Run) -> None:
    """How many deviations the shrunk race has; beneath the table its lines, and who met it."""
    hold = "hold alpha update notes/default/list until beta get notes/default/list"
    words = ("bench", "search", "--seeds", "2", "--scenario", "lost_update", "--chooser", "urw")
    done = run(*words)
    *_, found, took, by, line = done.out.splitlines()
    assert re.fullmatch(r"  lost_update +urw +\d+ +\d+ to \d+ +0 of 2 +1 +\d+", found), found
    spent = r"\d+ runs and [0-9.]+ s in the median, at most \d+ and [0-9.]+, of 2"
    assert re.fullmatch(f"  lost_update, to shrink: {spent}", took), took
    assert (by, line) == ("  lost_update, shrunk, by urw:", f"    {hold}")
    figures = run(*words, "--json").json["lost_update"]["urw"]
    assert (figures["shrunk"], figures["of_shrunk"], figures["lines"]) == (1, 2, [hold])
    assert figures["median"] == int(found.split()[2])


def test_bench_prints_runs_as_a_table(run: Run) -> None:
    """A line for each scenario; as JSON, an object for each."""
    done = run("bench", "runs", "--scenario", "lost_update", "--runs", "2")
    assert (done.code, done.err) == (0, "measuring runs …\n")
    title, head, line = done.out.splitlines()
    assert title == "runs"
    assert re.split("  +", head.strip()) == [
        "scenario", "runs/s", "turns/s", "turns/checkpoint", "checkpoints/run", "runs/s direct",
    ]  # fmt: skip
    name, *figures = line.split()
    assert name == "lost_update"
    assert len(figures) == 5
    assert all(re.fullmatch(r"[0-9,.]+", figure) for figure in figures), line
    again = run("bench", "runs", "--scenario", "lost_update", "--runs", "2", "--json")
    assert list(again.json) == ["lost_update"]
    assert again.json["lost_update"]["checkpoints_per_run"] > 10


def test_bench_prints_a_profile_room_by_room(run: Run) -> None:
    """Below the whole, which is all of it."""
    words = ("bench", "runs", "--scenario", "stolen_slot", "--runs", "40", "--profile")
    title, head, whole, *rooms = run(*words).out.splitlines()
    assert (title, head.split()) == ("runs", ["µs/turn", "%"])
    assert re.fullmatch(r"  [0-9.]+ +100\.0  stolen_slot, 40 runs", whole), whole
    assert all(re.fullmatch(r"  [0-9.]+ +[0-9.]+ +[a-z/ ]+", room) for room in rooms), rooms
    assert any(room.endswith("kernel") for room in rooms)
    found = run(*words, "--json").json["stolen_slot"]
    assert (found["runs"], "kernel" in found["rooms"]) == (40, True)


def test_bench_says_at_which_scenario_it_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error, if it takes long; here nothing takes long, so it is told at once."""
    monkeypatch.delenv("TESTBED_PROGRESS")
    monkeypatch.setattr("testbed.cli.progress.SILENT_S", 0)
    done = run("bench", "runs", "--scenario", "lost_update", "--runs", "1")
    assert done.err == "measuring runs …\nlost_update, 1 of 1\n"


@each_row("name", known_choosers())
def test_every_known_chooser_decides(name: str, run: Run) -> None:
    """By its short name, which the help tells, and with which the Run is played again."""
    words = ("run", "lost_update", "--chooser", name, "--seed", "7", "--driver", "direct")
    done = run(*words, "--json")
    assert done.code in (0, 1)
    assert name == "uniform" or f"--chooser {name}" in done.json["again"]
    assert name in run("run", "--help").out


# -- errors ---------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[list[str], int, str]] = {
    "an unknown command": (
        ["rnu"],
        2,
        "UnknownName: there is no command 'rnu'. Did you mean 'run'?\n"
        "Known: attach, bench, certify, check, compare, demo, explain, grade, init, keep, learn, "
        "list, manifest, mutants, replay, run, search, serve, show, sweep, switches.\n"
        "Next: testbed --help\n",
    ),
    "an unknown option": (
        ["run", "lost_update", "--sed", "1"],
        2,
        "Usage: testbed run [OPTIONS] SCENARIO\nTry 'testbed run --help' for help.\n\n"
        "Error: No such option '--sed'. Did you mean",
    ),
    "no scenario": (
        ["run"],
        2,
        "Usage: testbed run [OPTIONS] SCENARIO\nTry 'testbed run --help' for help.\n\n"
        "Error: Missing argument 'SCENARIO'.",
    ),
    "too many": (["run", "lost_update", "guard=on"], 2, "extra argument"),
    "a seed that is no number": (["run", "lost_update", "--seed", "x"], 2, "'x' is not a valid in"),
    "an unknown scenario": (
        ["run", "lost_updates"],
        2,
        "UnknownName: there is no scenario 'lost_updates'. Did you mean 'lost_update'?\n"
        f"Known: {', '.join(scenario.name for scenario in known())}.\n"
        "Next: testbed list, or name one of your own as FILE.py:function\n",
    ),
    "an unknown switch": (
        ["run", "lost_update", "--switch", "gard=on"],
        2,
        "UnknownName: there is no switch of lost_update 'gard'. Did you mean 'guard'?\n"
        "Known: guard, writers.\nNext: testbed list shows the switches of each scenario\n",
    ),
    "a switch without a value": (
        ["run", "lost_update", "--switch", "guard"],
        2,
        "ScenarioError: --switch guard: expected NAME=VALUE, such as --switch guard=on.\n"
        "Next: testbed list shows the switches of each scenario.\n",
    ),
    "a switch without a name": (
        ["run", "lost_update", "--switch", "=on"],
        2,
        "ScenarioError: --switch =on: expected NAME=VALUE",
    ),
    "a bad value of a switch": (
        ["run", "lost_update", "--switch", "guard=maybe"],
        2,
        "ScenarioError: switch guard=maybe: expected on or off.\n"
        "Next: say --switch guard=off, which is its default.\n",
    ),
    "a bad number": (
        ["run", "lost_update", "--switch", "writers=two"],
        2,
        "ScenarioError: switch writers=two: expected a whole number.\nNext: say --switch writers=2",
    ),
    "an unknown chooser": (
        ["run", "lost_update", "--chooser", "unifrom"],
        2,
        "UnknownName: there is no chooser 'unifrom'. Did you mean 'uniform'?\n"
        "Known: bounded, calm, ",
    ),
    "a chooser that is none": (
        ["run", "lost_update", "--chooser", "mine:race"],
        2,
        "ScenarioError: --chooser mine:race is no chooser: expected a class, found <function race",
    ),
    "a class that is no chooser": (
        ["run", "lost_update", "--chooser", "mine:Writer"],
        2,
        "ScenarioError: --chooser mine:Writer is no chooser",
    ),
    "a chooser that needs more": (
        ["run", "lost_update", "--chooser", "mine:Needy"],
        2,
        "ScenarioError: --chooser mine:Needy(weights): missing a required argument: 'weights'; "
        "expected one that is made from nothing, or from a `seed`.\nNext: give its other",
    ),
    "a chooser that loses count": (
        ["run", "mine:race", "--chooser", "mine:Lost"],
        4,
        "HarnessBug: the last one chose option 99 of 2",
    ),
    "an unknown driver": (
        ["run", "lost_update", "--driver", "asyncio"],
        2,
        "UnknownName: there is no driver 'asyncio'.",
    ),
    "an unknown driver, replaying": (
        ["replay", "none", "--driver", "dirct"],
        2,
        "UnknownName: there is no driver 'dirct'. Did you mean 'direct'?\nKnown: direct, trio.\n"
        "Next: --driver trio, or say nothing\n",
    ),
    "an unknown driver, measuring": (
        ["bench", "determinism", "--driver", "tiro"],
        2,
        "UnknownName: there is no driver 'tiro'. Did you mean 'trio'?",
    ),
    "an unknown benchmark": (
        ["bench", "turn"],
        2,
        "UnknownName: there is no benchmark 'turn'. Did you mean 'turns'?\n"
        "Known: api, autoscale, cluster, compare, determinism, door, false-alarms, grade, "
        "maps, pairs, preempt, runs, schedule, search, store, turns.\n"
        "Next: testbed bench --help\n",
    ),
    "an option of another benchmark": (
        ["bench", "turns", "--runs", "3"],
        2,
        "ScenarioError: --runs: the benchmark 'turns' does not take it; expected with runs, "
        "compare, determinism, false-alarms.\nNext: testbed bench turns\n",
    ),
    "an option of the search, elsewhere": (
        ["bench", "runs", "--runs-max", "3"],
        2,
        "ScenarioError: --runs-max: the benchmark 'runs' does not take it; "
        "expected with pairs, search.\n"
        "Next: testbed bench runs\n",
    ),
    "a chooser that does not draw": (
        ["bench", "search", "--chooser", "calm"],
        2,
        "UnknownName: there is no chooser that draws 'calm'.",
    ),
    "a size that is no number": (
        ["bench", "schedule", "--nodes", "100,x"],
        2,
        "ScenarioError: --nodes 100,x: 'x' is out of place; expected how many nodes, whole numbers "
        "from 1 with commas between, each once.\nNext: testbed bench schedule --nodes 100,1000\n",
    ),
    "a size said twice": (
        ["bench", "preempt", "--nodes", "100,100"],
        2,
        "ScenarioError: --nodes 100,100: '100' is out of place;",
    ),
    "more preemptors than victims": (
        ["bench", "preempt", "--nodes", "3,2", "--pods", "17"],
        2,
        "ScenarioError: --pods 17 --nodes 2: there are 16 pods to evict; expected as many as come, "
        "8 on each node.\nNext: testbed bench preempt --pods 16 --nodes 2\n",
    ),
    "a profile of what plays no runs": (
        ["bench", "turns", "--profile"],
        2,
        "ScenarioError: --profile: the benchmark 'turns' does not take it; expected with runs.\n",
    ),
    "no runs at all": (["bench", "runs", "--runs", "0"], 2, "0 is not in the range x>=1"),
    "a module that is not there": (
        ["run", "nothing:race"],
        2,
        "ScenarioError: nothing:race: the module 'nothing' cannot be imported: "
        "ModuleNotFoundError: No module named 'nothing'.\n"
        "Next: run from the folder that holds it, or install it.\n",
    ),
    "a module that does not parse": (
        ["run", "half:race"],
        2,
        "ScenarioError: half:race: the module 'half' cannot be imported: SyntaxError: ",
    ),
    "a module that exits": (
        ["run", "exits:race"],
        2,
        "ScenarioError: exits:race: the module 'exits' cannot be imported: SystemExit: 0 (",
    ),
    "a function that is not there": (
        ["run", "mine:rase"],
        2,
        "UnknownName: there is no function or class of mine 'rase'. Did you mean 'race'?\nKnown: ",
    ),
    "a function that is no scenario": (
        ["run", "mine:wrong_claim", "--switch", "a=b"],
        2,
        "UnknownName: there is no switch of mine:wrong_claim 'a'.\nKnown: none.\nNext: testbed li",
    ),
    "a function of nothing": (
        ["run", "dice:by_chance"],
        2,
        "ScenarioError: dice:by_chance() is no scenario: expected one World and keyword switches.\n"
        "Next: write it as `def name(world, *, guard=False)`.\n",
    ),
    "a class for a scenario": (
        ["run", "mine:Writer"],
        2,
        "ScenarioError: mine:Writer is no scenario: expected a function of a World, found type",
    ),
    "a file in no folder": (
        ["run", "lost_update", "--trace", "none/race.jsonl"],
        2,
        "ScenarioError: --trace none/race.jsonl: cannot be written: No such file or directory.\n"
        "Next: name a file in a folder that exists, on a disk with room.\n",
    ),
    "a folder for a file": (
        ["run", "lost_update", "--trace", "."],
        2,
        "ScenarioError: --trace .: cannot be written: Is a directory.\nNext: name a file",
    ),
    "a full disk": (
        ["run", "lost_update", "--trace", "/dev/full"],
        2,
        "ScenarioError: --trace /dev/full: cannot be written: No space left on device.\nNext: ",
    ),
    "a trace that is not there": (
        ["replay", "none.jsonl"],
        2,
        "TraceRefused: none.jsonl: cannot be read: No such file or directory.\n"
        "Next: record one with `testbed run lost_update --trace race.jsonl`.\n",
    ),
    "a file that is no trace": (
        ["replay", "mine.py"],
        2,
        "TraceRefused: mine.py, line 1: this is no trace: expected a JSON header with \"format\": "
        "\"testbed-trace/1\", found ''.\nNext: record one with `testbed run SCENARIO --trace FILE`",
    ),
}  # fmt: skip


@each_row("name", ERRORS)
def test_an_error_says_what_is_wrong_and_what_to_do(name: str, run: Run) -> None:
    """On standard error, with nothing on standard output; never a traceback of ours."""
    words, code, said = ERRORS[name]
    done = run(*words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert code == 4 or re.search(r"^(Next: |Try 'testbed )", done.err, re.MULTILINE)


@each_row(
    ("damage", "said"),
    [
        (lambda raw: raw[:-5], "TraceRefused: race.jsonl, line 14: the trace is cut short or corr"),
        (lambda raw: raw.replace(b"alpha", b"alphb", 1), "race.jsonl, line 3: the line was edited"),
        (
            lambda raw: raw.replace(b"testbed-trace/1", b"testbed-trace/9", 1),
            "TraceRefused: race.jsonl, line 1: format 'testbed-trace/9', this testbed reads "
            f"'testbed-trace/1'; it was recorded by testbed {VERSION}.\nNext: record the Run again",
        ),
        (
            lambda raw: resum(raw.replace(b'"guard":"off"', b'"guard":["x"]')),
            "ScenarioError: switch guard=['x']: expected on or off.\nNext: say --switch guard=off",
        ),
        (
            lambda raw: resum(raw.replace(b'"guard"', b'"grad"')),
            "UnknownName: there is no switch of lost_update 'grad'. Did you mean 'guard'?",
        ),
    ],
)
def test_a_damaged_trace_is_refused(damage: Callable[[bytes], bytes], said: str, run: Run) -> None:
    """Exit code 2, and what the file, the line and the next step are."""
    record(run)
    Path("race.jsonl").write_bytes(damage(Path("race.jsonl").read_bytes()))
    done = run("replay", "race.jsonl")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "\nNext: " in done.err


def test_a_wrong_word_costs_no_trace(run: Run) -> None:
    """What is asked is checked before the file that was recorded last is opened."""
    record(run)
    raw = Path("race.jsonl").read_bytes()
    for words in (["--switch", "gaurd=on"], ["--driver", "x"], ["--chooser", "x"]):
        assert run("run", "lost_update", *words, "--trace", "race.jsonl").code == 2
    assert Path("race.jsonl").read_bytes() == raw


@pytest.mark.parametrize(
    ("scenario", "where", "said"),
    [
        ("mine:typo", "typo", "NameError: name 'Wrtier' is not defined"),
        ("mine:exits", "exits", "SystemExit: 0"),
        ("mine:claims_wrongly", "wrong_claim", "IndexError: list index out of range"),
        ("mine:thaws", "__init__", "FrozenInstanceError: can't set attribute"),
    ],
)
def test_an_error_in_ones_own_code_is_shown_there(
    scenario: str, where: str, said: str, run: Run
) -> None:
    """A typo in a scenario or a claim is not `violated`, and is no bug of ours: exit code 2, the
    file and the line, and only one's own lines of the traceback."""
    done = run("run", scenario)
    assert (done.code, done.out) == (2, "")
    frames, _, last = done.err.partition("ScenarioError: ")
    assert re.match(rf".*mine.py, line \d+: {where} raised {said}.\nThe testbed called it", last)
    is_frozen = "Frozen" in said
    mend = "declare what an actor holds as fields of an `@attrs.frozen` class, not in __init__"
    assert last.endswith(f"\nNext: {mend if is_frozen else 'mend it'}, and run again.\n")
    assert set(re.findall(r'File ".*/(\w+)\.py"', frames)) == {"mine"}


def test_an_error_in_our_code_asks_to_be_reported(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot be mistaken for `violated`: exit code 4, the traceback, and what to do."""
    monkeypatch.setattr("testbed.cli.show.CODES", {})
    done = run("run", "lost_update")
    assert done.code == 4
    assert done.err.startswith("Traceback (most recent call last):\n")
    assert done.err.endswith(
        "HarnessBug: KeyError: 'held'. Please report it, with the lines above.\n"
    )


# -- as a process ---------------------------------------------------------------------------------


def test_the_module_and_the_script_are_the_same() -> None:
    """`python -m testbed` and `testbed`, beside the Python that runs this."""
    script = Path(sys.executable).with_name("testbed")
    done = subprocess.run([script, "--help"], capture_output=True, text=True, check=True)
    assert spawned("--help").out == done.stdout


def test_results_go_to_one_stream_and_errors_to_the_other() -> None:
    """So that a pipe gets results only."""
    done = spawned("run", "lost_update", "--seed", "1", "--json")
    assert (done.code, done.err) == (1, "")
    assert done.json["verdict"] == "violated"
    done = spawned("run", "nowhere")
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize(
    ("words", "code"),
    [(["list"], 0), (["--help"], 0), (["run", "lost_update", "--seed", "1"], 1)],
)
def test_a_reader_that_goes_away_is_no_error(words: list[str], code: int) -> None:
    """As in `testbed list | head -1`: no traceback, nothing on standard error, and the exit code is
    what it would have been."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "testbed", *words], stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_a_poor_terminal_gets_the_story_too(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it cannot show is a question mark, and no error."""
    terminal = TextIOWrapper(written := BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["run", "lost_update", "--seed", "1"]) == 1
    terminal.flush()
    assert b"Violated: every_signature_is_kept" in written.getvalue()
