"""The pytest door: what it collects, what passes, what a failure shows, and what it never loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

# Loaded here once: what is first imported within an inner pytest is forgotten with it, and the C
# code of YAML and of numpy cannot be loaded twice.
import scenarios.caches.crash_and_resync  # noqa: F401
import testbed.pytest_plugin
import testbed.races.racefile
import testbed.races.window
import testbed.strategies
import testbed.testing.seek  # noqa: F401
from testbed.world.fault_kinds import fault_kinds
from tests.each_row import each_row

fault_kinds()

ROOT = Path(__file__).parent.parent.parent
PAIR = """\
    scenario: lost_update
    holds:
      - hold: alpha update notes/default/list
        until: beta update notes/default/list
    expect:
      - switches: {guard: off}
        violates: every_signature_is_kept
      - switches: {guard: on}
        holds: [every_signature_is_kept]
    """
MINE = """\
    import pytest
    from scenarios.basics.lost_update import Writer, every_signature_is_kept
    from testbed import quiescent
    from testbed.objects import Map, Note

    def build(world, guard):
        world.add(Note("list", data=Map(signed="")))
        world.start(Writer("alpha", guard=guard), Writer("beta", guard=guard))
        world.claim(quiescent(every_signature_is_kept))
    """


@pytest.fixture
def tree(pytester: pytest.Pytester) -> pytest.Pytester:
    """An empty folder in which pytest is run with this plugin, and any warning is an error."""
    options = "-W error -p no:cacheprovider -p testbed.pytest_plugin"
    pytester.makeini(f"[pytest]\naddopts = {options}\ntrio_mode = true\n")
    return pytester


def lay(tree: pytest.Pytester, **texts: str) -> None:
    """Write these files: `a__race` is `a.race.yaml`, anything else a module."""
    for name, text in texts.items():
        kind = ".race.yaml" if name.endswith("__race") else ".py"
        path = tree.path / (name.removesuffix("__race") + kind)
        path.write_text(dedent(text))


# -- race files -------------------------------------------------------------------------------


def test_a_race_file_is_a_test_of_each_side(tree: pytest.Pytester) -> None:
    """Wherever it lies; each side has a name that says what it expects, and can be asked for."""
    tree.mkdir("deep")
    (tree.path / "deep/lost.race.yaml").write_text(dedent(PAIR))
    result = tree.runpytest_inprocess("-v")
    result.stdout.fnmatch_lines(
        [
            "deep/lost.race.yaml::violates-every_signature_is_kept[[]guard=off] PASSED*",
            "deep/lost.race.yaml::holds-every_signature_is_kept[[]guard=on] PASSED*",
        ]
    )
    one = tree.runpytest_inprocess("deep/lost.race.yaml::holds-every_signature_is_kept[guard=on]")
    one.assert_outcomes(passed=1)


def test_what_is_not_as_expected_is_told_without_a_line_of_ours(tree: pytest.Pytester) -> None:
    """The story, what became of a line that matched nothing, and the line that runs it again."""
    turned = dedent(PAIR).replace("guard: off", "guard: x").replace("guard: on", "guard: off")
    lay(
        tree,
        turned__race=turned.replace("guard: x", "guard: on"),
        other__race=dedent(PAIR).replace("holds:\n  -", "holds:\n  - hold: alpha update notes/n\n"
                                         "    until: quiet\n  -", 1),
    )  # fmt: skip
    result = tree.runpytest_inprocess("-W", "default")
    result.assert_outcomes(passed=1, failed=3, warnings=1)
    text = result.stdout.str()
    assert "Traceback" not in text
    assert "testbed/" not in text
    for line in (
        "expected a breach of every_signature_is_kept.\nHeld. Looked at: 1 run",
        "let the file say `holds: [every_signature_is_kept]`.",
        "expected to hold: every_signature_is_kept.\nViolated: every_signature_is_kept: beta",
        "alpha still knew rv 2 and updated it at rv 4, over rv 3",
        "Again: python -m pytest 'turned.race.yaml::holds-every_signature_is_kept[guard=off]'\n",
        "every_signature_is_kept was breached, but not by this race.",
        "line 3 matched nothing: hold alpha update notes/n until quiet; closest: alpha update "
        "notes/default/list",
    ):
        assert line in text, line


ONE_SIDE = """\
    scenario: lost_update
    switches: {guard: on}
    holds:
      - hold: alpha update notes/default/list
        until: quiet
      - hold: alpha update notes/default/lst
        until: quiet
    expect: {holds: [every_signature_is_kept]}
    """
GONE = "line 6 matched nothing: hold alpha update notes/default/lst until quiet; closest: alpha "


def test_a_line_that_speaks_of_nothing_is_a_warning_where_a_claim_is_to_hold(
    tree: pytest.Pytester,
) -> None:
    """It stands below the tests, and is an error to whoever makes all warnings errors, with no
    line of ours."""
    lay(tree, one__race=ONE_SIDE)
    result = tree.runpytest_inprocess("-W", "default")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines([f"*UnmatchedLine: one.race.yaml, {GONE}*"])
    result = tree.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    assert f"\none.race.yaml, {GONE}" in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_a_file_of_which_no_line_speaks_of_anything_is_a_warning_too(
    tree: pytest.Pytester,
) -> None:
    """What mends the code may rename all that it spoke of; and the calm run has no line at all."""
    idle = dedent(ONE_SIDE).replace("/list", "/lst")
    other = "expect:\n- holds: [every_signature_is_kept]\n- switches: {writers: 1}\n  holds: []\n"
    least = "scenario: lost_update\nholds: [{hold: beta update notes/default/list, until: quiet}]\n"
    lay(
        tree,
        idle__race=idle,
        none__race="scenario: lost_update\nexpect: {holds: []}\n",
        sides__race=least + "switches: {guard: on}\n" + other,
    )
    result = tree.runpytest_inprocess("-W", "default")
    result.assert_outcomes(passed=4, warnings=3)
    result.stdout.fnmatch_lines([f"*UnmatchedLine: idle.race.yaml, {GONE}*"])


BAD = {
    "grammar": ("scenario: lost_update\nholds: 7\n", "grammar.race.yaml, line 2: "),
    "silent": ("scenario: lost_update\n", "silent.race.yaml: it says nothing of what is expected"),
    "unknown": (
        "scenario: lost_updat\nexpect: {holds: []}\n",
        "unknown.race.yaml, line 1: there is no scenario 'lost_updat'. Did you mean 'lost_update'?",
    ),
    "switch": (
        "scenario: lost_update\nexpect: {switches: {gard: on}, holds: []}\n",
        "switch.race.yaml, line 2: there is no switch of lost_update 'gard'. Did you mean 'guard'?",
    ),
    "alien": (
        'scenario: "antigravity:fly"\nexpect: {holds: []}\n',
        "alien.race.yaml, line 1 names antigravity:fly, which is not one of `testbed list` and ",
    ),
    "loaded": (
        'scenario: "os.path:join"\nexpect: {holds: []}\n',
        "loaded.race.yaml, line 1 names os.path:join, which is not one of",
    ),
}


def test_a_bad_race_file_is_a_collection_error_that_says_where(tree: pytest.Pytester) -> None:
    """File, and line where there is one; what was expected, and what to do; no traceback. What a
    file alone names is not imported."""
    lay(tree, **{f"{name}__race": text for name, (text, _) in BAD.items()})
    result = tree.runpytest_inprocess()
    result.assert_outcomes(errors=len(BAD))
    text = result.stdout.str()
    assert "Traceback" not in text
    assert text.count("\nNext: ") == len(BAD)
    for _, expected in BAD.values():
        assert expected in text, expected
    assert "antigravity" not in sys.modules


def test_a_claim_that_is_not_made_is_no_silent_pass(tree: pytest.Pytester) -> None:
    """A name misspelt under `holds` would hold for ever."""
    lay(tree, typo__race=PAIR.replace("holds: [every_signature_is_kept]", "holds: [every_one]"))
    result = tree.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["RaceRefused: *race.yaml, line 8: there is no claim of lost_update 'every_one'*"]
    )


def test_a_race_of_a_scenario_of_ones_own_is_found_beside_it(tree: pytest.Pytester) -> None:
    """In the folder of the race file, whatever was collected before."""
    tree.mkdir("inner")
    mine = dedent(MINE) + "\ndef race(world, *, guard=False):\n    build(world, guard)\n"
    (tree.path / "inner/mine_own.py").write_text(mine)
    pair = dedent(PAIR).replace("lost_update", '"mine_own:race"')
    (tree.path / "inner/a.race.yaml").write_text(pair)
    tree.runpytest_inprocess().assert_outcomes(passed=2)


# -- scenarios --------------------------------------------------------------------------------


def test_a_marked_scenario_is_searched(tree: pytest.Pytester) -> None:
    """Each mark is a test: guarded it passes, a breach that is expected passes when it is found,
    and one that is not fails with the story, the race, and the line to paste; the race is left."""
    lay(
        tree,
        test_mine=dedent(MINE) + dedent("""
            @pytest.mark.testbed(runs=50)
            @pytest.mark.testbed(switches={"guard": "off"}, violates="every_signature_is_kept")
            @pytest.mark.testbed(switches={"guard": True}, faults=["crash"], seed=3)
            @pytest.mark.testbed(switches={"guard": "on"}, runs=2, violates="nobody_is_stuck")
            def both_sign(world, *, guard=False):
                build(world, guard)

            @pytest.mark.xfail(reason="it is known", strict=True)
            @pytest.mark.testbed
            def also(world):
                build(world, False)
            """),
        test_other="from test_mine import both_sign\n",
    )  # fmt: skip
    result = tree.runpytest_inprocess("-v", "--strict-markers", "--import-mode=prepend")
    result.stdout.fnmatch_lines(
        [
            "test_mine.py::both_sign FAILED*",
            "test_mine.py::both_sign[[]guard=off] PASSED*",
            "test_mine.py::both_sign[[]guard=True] PASSED*",
            "test_mine.py::both_sign[[]guard=on] FAILED*",
            "test_mine.py::also XFAIL*",
        ]
    )
    result.assert_outcomes(passed=2, failed=2, xfailed=1)
    text = result.stdout.str()
    assert "Traceback" not in text
    assert "test_mine:both_sign: a breach in run 3, shrunk to this:\nViolated: every_sig" in text
    assert 'The race, in .testbed/both_sign.race.yaml:\n\n  scenario: "test_mine:both_sign"' in text
    assert "Again: python -m pytest test_mine.py::both_sign\n" in text
    assert (
        "expected a breach of nobody_is_stuck.\ntest_mine:both_sign: no breach in 2 runs." in text
    )
    assert (tree.path / ".testbed/.gitignore").read_text() == "*\n"
    left = tree.path / ".testbed/both_sign.race.yaml"
    assert left.read_text() in text.replace("\n  ", "\n")
    # What is left is a test of its own, once it is kept.
    left.rename(tree.path / "kept.race.yaml")
    tree.runpytest_inprocess("kept.race.yaml").assert_outcomes(passed=1)


def test_marks_of_equal_switches_are_told_apart(tree: pytest.Pytester) -> None:
    """By which of them it is, so that each can be called alone, and leaves a race of its own."""
    lay(
        tree,
        test_mine=dedent(MINE) + dedent("""
            @pytest.mark.testbed(seed=1)
            @pytest.mark.testbed(seed=2)
            @pytest.mark.testbed(switches={"guard": True}, seed=1, runs=1)
            @pytest.mark.testbed(switches={"guard": True}, seed=2, runs=1)
            def both_sign(world, *, guard=False):
                build(world, guard)
            """),
    )  # fmt: skip
    result = tree.runpytest_inprocess("-v")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "test_mine.py::both_sign FAILED*",
            "test_mine.py::both_sign[[]2[]] FAILED*",
            "test_mine.py::both_sign[[]guard=True[]] PASSED*",
            "test_mine.py::both_sign[[]guard=True,2[]] PASSED*",
            "Again: python -m pytest 'test_mine.py::both_sign[[]2[]]'",
        ]
    )
    left = sorted(file.name for file in (tree.path / ".testbed").glob("*.yaml"))
    assert left == ["both_sign.race.yaml", "both_sign_2_.race.yaml"]
    tree.runpytest_inprocess("test_mine.py::both_sign[2]").assert_outcomes(failed=1)


@each_row(
    ("mark", "takes", "expected"),
    [
        ("(rns=5)", "world", "there is no option of @pytest.mark.testbed 'rns'. Did you mean 'run"),
        ("(5)", "world", "@pytest.mark.testbed takes options by name"),
        ("(switches={'gard': 1})", "world", "there is no switch of test_mine:race 'gard'"),
        ("(faults=['smash'])", "world", "there is no fault 'smash'"),
        ("(effort='deeep')", "world", "there is no effort 'deeep'. Did you mean 'deep'"),
        ("", "world, guard", "is no scenario: expected one World and keyword switches"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_mark_is_found_when_it_is_collected(
    tree: pytest.Pytester, mark: str, takes: str, expected: str
) -> None:
    """With the file and the line of the scenario."""
    lay(
        tree,
        test_mine="import pytest\n"
        f"@pytest.mark.testbed{mark}\n"
        f"def race({takes}):\n    '''Mine.'''\n",
    )
    result = tree.runpytest_inprocess("--collect-only")
    text = result.stdout.str()
    assert "test_mine.py, line 2: " in text
    assert expected in text
    assert "Traceback" not in text
    assert "Next: " in text or "Known: " in text


# -- fixtures, and neighbours -----------------------------------------------------------------


BESIDE = """\
    import trio
    from hypothesis import given, settings, strategies as st
    from testbed.strategies import runs

    def test_calm(testbed_play):
        testbed_play("lost_update").must_hold()

    def test_seeded(testbed_play):
        testbed_play("lost_update", seed=1, switches={"guard": "on"}).must_hold()
        testbed_play("lost_update", seed=1).must_hold()

    async def test_within_trio(testbed_play):
        await trio.lowlevel.checkpoint()
        testbed_play("lost_update", seed=1).must_hold()

    def test_searched(testbed_search):
        assert testbed_search("lost_update", switches={"guard": "on"}, runs=20).runs == 20
        testbed_search("lost_update", effort="quick").must_hold()

    def test_replayed(testbed_replay):
        testbed_replay("pair.race.yaml", switches={"guard": "on"}).must_hold()
        testbed_replay("pair.race.yaml").must_hold()

    @settings(database=None, derandomize=True, max_examples=20)
    @given(run=runs("lost_update", switches={"guard": "on"}))
    def test_given(run):
        run.must_hold()
    """


def test_fixtures_play_search_and_replay_beside_trio_and_hypothesis(tree: pytest.Pytester) -> None:
    """In plain tests, async ones and `@given` ones of one module; what fails names the claim, and
    the test's own line is the last that is shown."""
    lay(tree, pair__race=PAIR, test_all=BESIDE)
    result = tree.runpytest_inprocess("--junitxml=j.xml")
    result.assert_outcomes(passed=4, failed=4)
    text = result.stdout.str()
    assert text.count("NotHeld[[]every_signature_is_kept]".replace("[[]", "[")) >= 4
    assert "testbed/testing/run.py" not in text
    assert "testbed/testing/seek.py" not in text
    for name in ("test_seeded", "test_within_trio", "test_searched", "test_replayed"):
        assert f"FAILED test_all.py::{name} - " in text
    for line in (
        "E       Again: testbed replay .testbed/lost_update-every_signature_is_kept.race.yaml",
        '>       testbed_search("lost_update", effort="quick").must_hold()',
    ):
        assert line in text, line
    report = (tree.path / "j.xml").read_text()
    figures = {"runs": "20", "level": "1", "reason": "taken back"}
    for name, value in (*figures.items(), ("invariant", "every_signature_is_kept")):
        assert f'<property name="{name}" value="{value}"/>' in report.replace(" />", "/>")


def test_the_report_tells_how_wide_a_window_is(tree: pytest.Pytester) -> None:
    """For how many milliseconds something must be late; a matter of order alone has none."""
    lay(
        tree,
        pair__race=PAIR,
        timed__race="""
            scenario: "test_timed:timed"
            holds:
              - hold: alpha update notes/default/list
                until: beta get notes/default/list
            expect: {violates: every_signature_is_kept}
            """,
        test_timed=dedent(MINE)
        + dedent("""
            class Slow(Writer):
                async def run(self, client):
                    await client.sleep(200, "late")
                    note = await client.get(Note, "list")
                    await client.sleep(100, "thinking")
                    names = f"{note.data['signed']} {self.name}"
                    await client.update(note.saying(signed=names), whatever_it_was=True)

            def timed(world):
                world.add(Note("list", data=Map(signed="")))
                world.start(Writer("alpha", guard=True), Slow("beta"))
                world.claim(quiescent(every_signature_is_kept))
            """),
    )
    tree.runpytest_inprocess("--junitxml=j.xml").assert_outcomes(passed=3)
    report = (tree.path / "j.xml").read_text().replace(" />", "/>")
    assert report.count('name="window_ms"') == 1
    assert '<property name="window_ms" value="100"/>' in report
    assert report.count('<property name="runs" value="1"/>') == 3


# -- what it costs, and what it promises ------------------------------------------------------


COLLECT = """
import sys, pytest
pytest.main(["-p", "testbed.pytest_plugin", "-p", "no:cacheprovider", "--collect-only", "-q"])
print(*sys.modules)
"""


def collected(folder: Path, hash_seed: str = "0") -> list[str]:
    """What is printed by a process of its own that collects, with this plugin and none that
    happens to be installed; its last line are the modules it has loaded."""
    env = {
        **os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONHASHSEED": hash_seed,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", COLLECT],
        cwd=folder, env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_unused_it_loads_nothing_heavy(tmp_path: Path) -> None:
    """In an empty folder, and in one with an ordinary test: neither trio nor Hypothesis, nor a
    World. With a race file it does."""
    heavy = {"trio", "hypothesis", "networkx", "yaml", "msgspec", "click", "h11"}
    heavy |= {"testbed.attended", "testbed.world.world"}

    def loaded() -> set[str]:
        modules = collected(tmp_path)[-1].split()
        assert "testbed.pytest_plugin" in modules
        return heavy.intersection(modules)

    assert loaded() == set()
    (tmp_path / "test_plain.py").write_text("def test_it(): pass\n")
    assert loaded() == set()
    (tmp_path / "a.race.yaml").write_text(dedent(PAIR))
    assert loaded() >= {"yaml", "testbed.world.world"}


def test_names_are_the_same_in_every_process(tmp_path: Path) -> None:
    """Workers that share a suite compare what each has collected."""
    (tmp_path / "a.race.yaml").write_text(dedent(PAIR))
    (tmp_path / "test_mine.py").write_text(
        dedent(MINE) + "\n@pytest.mark.testbed(switches={'guard': 'on'})\n"
        "@pytest.mark.testbed(switches={'guard': 'off'})\n"
        "def both_sign(world, *, guard=False):\n    build(world, guard)\n"
    )
    one, other = (collected(tmp_path, hash_seed=seed)[:4] for seed in ("1", "2"))
    assert (
        one
        == other
        == [
            "a.race.yaml::violates-every_signature_is_kept[guard=off]",
            "a.race.yaml::holds-every_signature_is_kept[guard=on]",
            "test_mine.py::both_sign[guard=on]",
            "test_mine.py::both_sign[guard=off]",
        ]
    )
