"""What all tests share: the count of what they prove of docs/spec.md, stories, a folder."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from testbed.turns.garbage import freeze_for_good
from tests.house.spec_report import Spec, SpecReport
from tests.needs import LeftOut
from tests.shared.examples import draw_once, load_profile
from tests.shared.golden import Stories


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--spec-report`, `--rewrite-stories` and `--world`."""
    text = "count the requirements of docs/spec.md that passing tests cite, and name the others"
    parser.addoption("--spec-report", action="store_true", help=text)
    text = "write tests/stories/ anew; explain each changed line before you keep it"
    parser.addoption("--rewrite-stories", action="store_true", help=text)
    text = "of the drawn Worlds play this one alone: its number, or what a failure has printed"
    parser.addoption("--world", default="", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Check every citation, also when no report is asked for; draw the examples that are asked for;
    and hear Ctrl-C, to which a shell that puts these tests in the background makes them, and
    whatever they begin, deaf."""
    keep_compiled(config)
    load_profile(config.option.markexpr)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    spec = Spec.read(Path(__file__).parent.parent / "docs/spec.md")
    config.pluginmanager.register(SpecReport(spec), "spec-report")
    config.pluginmanager.register(LeftOut(), "left-out")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without Python's garbage collector: what is imported and collected is here to stay,
    so to walk over it again and again would be in vain. The first draw walks over all there is
    several times, so it comes while that is little."""
    draw_once()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def keep_compiled(config: pytest.Config) -> None:
    """Where Python may write no bytecode beside the source, keep it in pytest's cache: to compile
    and rewrite all tests anew is two thirds of a collection, and each worker collects."""
    cache = getattr(config, "cache", None)
    if sys.dont_write_bytecode and cache is not None:
        with suppress(OSError):  # a folder in which nothing may be written
            sys.pycache_prefix = str(cache.mkdir("compiled"))
            sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """Let Python's garbage collector pass over what is here to stay: the modules, and thousands of
    tests. To walk over them again and again took a tenth of the time."""
    freeze_for_good()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the tests have cost in processor time, which no other load changes."""
    spent = sum(os.times()[:4])
    terminalreporter.write_line(f"processor time of all processes: {spent:.0f} s")


@pytest.fixture(scope="session", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where Python may write no bytecode, what the tests begin shares it in a folder of its own,
    which goes with the copies of the tree that they begin it in."""
    with pytest.MonkeyPatch.context() as patch:
        if sys.flags.dont_write_bytecode:
            patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
            patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("compiled")))
        yield


@pytest.fixture(scope="session", autouse=True)
def untimed() -> Iterator[None]:
    """What commands print here does not depend on how busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TESTBED_PROGRESS", "off")
        yield


@pytest.fixture
def stories(request: pytest.FixtureRequest) -> Stories:
    """What was told before, to be compared with what is told now."""
    folder = Path(__file__).parent / "stories"
    return Stories(folder, rewrites=request.config.getoption("--rewrite-stories"))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's own folder, which is the current one; what is imported from it is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    importlib.invalidate_caches()
    yield tmp_path
    for name, module in list(sys.modules.items()):
        # The folders of these tests, which pytest takes for packages without a file, go on.
        if name.partition(".")[0] == "tests":
            continue
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
        if any(str(place).startswith(str(tmp_path)) for place in places):
            del sys.modules[name]
