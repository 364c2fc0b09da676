"""Where the recorded cases are, and the summary line of how many agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.conformance.reading import BadCorpus, files_in
from tests.conformance.tally import Tally

OURS = Path(__file__).parent / "corpus"
TALLY = pytest.StashKey[Tally]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--corpus`."""
    text = "compare with the recorded cases in this folder (default: those that come along)"
    parser.addoption("--corpus", metavar="DIR", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Reset the counts, and refuse a folder without cases before any test runs."""
    config.stash[TALLY] = Tally()
    try:
        corpus_of(config)
    except BadCorpus as error:
        raise pytest.UsageError(str(error)) from error


def corpus_of(config: pytest.Config) -> list[Path]:
    """The files to compare."""
    given = config.getoption("corpus", None)
    return files_in(Path(given) if given else OURS)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test for each file."""
    if "corpus_file" in metafunc.fixturenames:
        files = corpus_of(metafunc.config)
        metafunc.parametrize("corpus_file", files, ids=[path.name for path in files])


@pytest.fixture
def tally(pytestconfig: pytest.Config) -> Tally:
    """The counts over all files."""
    return pytestconfig.stash.setdefault(TALLY, Tally())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker process hands its count to the one that tells."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["tally"] = attrs.asdict(session.config.stash.get(TALLY, Tally()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what a worker process has counted."""
    given = getattr(node, "workeroutput", {}).get("tally", {})
    node.config.stash.setdefault(TALLY, Tally()).add(Tally(**given))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many agree."""
    tally = terminalreporter.config.stash.get(TALLY, Tally())
    if tally.cases:
        terminalreporter.write_line(str(tally))
