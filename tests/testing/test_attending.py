"""Attending: what `testbed_attend` plays, what a failure says, and that nothing is left of it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from time import monotonic, sleep

import pytest

from tests.each_row import each_row

WITHIN_S = 300.0
"""Nothing here takes nearly that long; what does, hangs."""
ADDING = """\
    from actors.apiserver import ApiServer
    from testbed import quiescent
    from testbed.attended.program import Program
    from testbed.objects import Map
    from testbed.objects.config import ConfigMap

    def every_addition_counts(see):
        count = see.store.peek("configmaps/default/counter").value.data["count"]
        return None if count == "2" else f"two have added one, and the count is {count}"

    def adding(world, *, start=0):
        world.serve(ApiServer)
        world.add(ConfigMap("counter", data=Map(count=str(start))))
        world.start(Program("a"), Program("b"))
        world.claim(quiescent(every_addition_counts))
    """
ADDERS = """\
    import json, os, time
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    def ask(method="GET", body=None):
        cluster = json.load(open(os.environ["KUBECONFIG"]))["clusters"][0]["cluster"]
        url = cluster["server"] + "/api/v1/namespaces/default/configmaps/counter"
        data = None if body is None else json.dumps(body).encode()
        asked = Request(url, data, {"content-type": "application/json"}, method=method)
        return json.load(urlopen(asked))

    def add_one(is_checked=False):
        counter = ask()
        counter["data"]["count"] = str(int(counter["data"]["count"]) + 1)
        if not is_checked:
            del counter["metadata"]["resourceVersion"]
        ask("PUT", counter)

    def add_one_checked(name):
        print(name, "adds")
        while True:
            try:
                return add_one(is_checked=True)
            except HTTPError as error:
                if error.code != 409:
                    raise

    def complain():
        ask()
        raise LookupError("of no use")

    def stumble():
        raise LookupError("before it has asked")

    def linger():
        while ask():
            time.sleep(60)
    """
RACE = """\
    scenario: adding:adding
    holds:
      - hold: a update configmaps/default/counter
        until: b update configmaps/default/counter
    """
TESTS = """\
    import sys
    import pytest
    from adders import add_one, add_one_checked, complain, stumble
    from adding import adding
    from testbed.errors import ScenarioError, UnknownName

    HOLDS = {"a update configmaps/default/counter": "b update configmaps/default/counter"}
    BOTH = {"a": add_one, "b": add_one}
    CHECKED = {"a": add_one_checked, "b": add_one_checked}

    def test_races(testbed_attend):
        played = testbed_attend("races/adding.yaml", BOTH, times=2, driver="trio")
        assert (played.violated.hits, played.violated.plays) == (2, 2)
        played.must_hold()

    def test_is_careful(testbed_attend):
        played = testbed_attend(adding, CHECKED, holds=HOLDS)
        played.must_hold()
        assert played.is_held, played.story
        assert played.log("a") == "a adds\\n"
        refused = [step for step in played.trace.steps if step.outcome == "Conflict"]
        assert [step.option.actor for step in refused] == ["a"]
        raced = played.plays[0].played
        assert [raced.ambiguous(fate) for fate in raced.fates] == [{}]

    def test_is_calm(testbed_attend, monkeypatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        testbed_attend("adding.py:adding", BOTH).must_hold()
        assert testbed_attend(adding, BOTH, switches={"start": 1}).verdict.is_violated

    def test_is_drawn(testbed_attend):
        nothing = {"a delete configmaps/default/counter": "quiet"}
        with pytest.warns(UserWarning, match="line 3 matched nothing: hold a delete"):
            testbed_attend(adding, CHECKED, holds=nothing).must_hold()
        assert testbed_attend(adding, CHECKED, seed=1).verdict.chooser == "uniform, seed 1, run 0"

    def test_raises(testbed_attend):
        command = f"{sys.executable} -m testbed.attended.called adders.py:add_one {{name}}"
        testbed_attend(adding, {"a": command, "b": complain}).must_hold()

    def test_stumbles(testbed_attend):
        testbed_attend(adding, {"a": stumble})

    def test_refused(testbed_attend):
        def local():
            pass

        async def later():
            pass

        class Callable:
            def __call__(self): pass

        alone = "process of its own: .*\\n.*Next: write it as `def"
        for function in (lambda: None, local, Callable(), sys.exit):
            with pytest.raises(ScenarioError, match=alone):
                testbed_attend(adding, {"a": function})
        with pytest.raises(UnknownName, match="Known: a, b"):
            testbed_attend(adding, {"c": add_one})
        with pytest.raises(ScenarioError, match="api: it serves the others"):
            testbed_attend(adding, {"api": add_one})
        for wrong in ({"times": 0}, {"seed": 1, "holds": HOLDS}):
            with pytest.raises(ScenarioError):
                testbed_attend(adding, BOTH, **wrong)
        testbed_attend(adding, {"a": lambda: None})
    """


@pytest.fixture
def tree(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a scenario, programs, a race file and tests of them."""
    pytester.makeini("[pytest]\naddopts = -W error -p no:cacheprovider -p testbed.pytest_plugin\n")
    pytester.mkdir("races")
    modules = {"adding.py": ADDING, "adders.py": ADDERS, "test_adding.py": TESTS}
    for name, text in {**modules, "races/adding.yaml": RACE}.items():
        (pytester.path / name).write_text(dedent(text))
    return pytester


def left_of(folder: Path) -> set[str]:
    """The commands of this machine's processes that speak of this folder, but for pytest."""
    found = set()
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ")
        except OSError:
            continue
        if str(folder) in command and "pytest" not in command.split(str(folder))[0]:
            found.add(command)
    return found


def test_plays_hold_fail_raise_and_are_refused(tree: pytest.Pytester) -> None:
    """Under both drivers, in two workers at once; a failure has the story, what a program has
    written, and a line that plays it again anywhere."""
    result = tree.runpytest_subprocess("-n2", timeout=300)
    result.assert_outcomes(passed=3, failed=4)
    text = result.stdout.str()
    assert "testbed/testing/" not in text
    for line in (
        "Violated in 2 of 2 plays: between 15.8 and 100 % of all",
        "every_addition_counts: two have added one, and the count is 1",
        "a updated configmaps/default/counter to what it was already (step",
        "Violated: no_actor_dies: b/main died of exit code 1: LookupError: of no use at the end of",
        "E         Traceback (most recent call last):\nE           File ",
        "in complain\nE             raise LookupError(",
        "E         LookupError: of no use",
        "E       testbed.errors.ScenarioError: a: it has ended at once, with code 1: ",
        "E         LookupError: before it has asked",
        "test_refused.<locals>.<lambda> cannot be called in a process of its own",
    ):
        assert line in text, line
    again = [line for line in text.splitlines() if line.startswith("E       Again: testbed replay")]
    assert len(again) == 2
    words = shlex.split(again[0].partition("testbed ")[2])
    assert Path(words[1]).name == "trace.jsonl"
    assert words[2:] == ["--scenario", "adding.py:adding"]
    replayed = tree.run(sys.executable, "-m", "testbed", *words)
    assert replayed.ret == 1
    assert "two have added one, and the count is 1" in replayed.stdout.str()
    assert left_of(tree.path) == set()


def test_without_h11_it_says_what_to_install(tree: pytest.Pytester) -> None:
    """In a line or two, and without a line of this plugin."""
    missing = 'raise ModuleNotFoundError("no h11", name="h11")\n'
    (tree.path / "h11.py").write_text(missing)
    result = tree.runpytest_subprocess("-k", "calm", timeout=300)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["Next: pip install 'multisched-testbed[[]attach]'"])
    assert "Traceback" not in result.stdout.str()


@contextmanager
def session(tree: pytest.Pytester) -> Iterator[subprocess.Popen[str]]:
    """A pytest of its own, of which the test never ends by itself."""
    (tree.path / "test_adding.py").write_text(
        "from adders import linger\nfrom adding import adding\n\n"
        "def test_it(testbed_attend):\n    testbed_attend(adding, {'a': linger, 'b': linger})\n"
    )
    command = [sys.executable, "-m", "pytest", "--basetemp", str(tree.path / "tmp")]
    with subprocess.Popen(command, cwd=tree.path, stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


@each_row("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_session_that_is_ended(
    tree: pytest.Pytester, number: signal.Signals
) -> None:
    """Neither by Ctrl-C nor by a kill, of which pytest learns nothing."""
    until = monotonic() + WITHIN_S
    with session(tree) as started:
        while len(left_of(tree.path)) < 2:
            assert monotonic() < until
            sleep(0.02)
        started.send_signal(number)
        started.communicate(timeout=WITHIN_S)
    while left_of(tree.path):
        assert monotonic() < until
        sleep(0.02)
