"""The count of requirements is honest: only what a passing test cites, only what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.spec_report import Spec

SPEC = """\
# Specification
A line that begins `- API-3` is a requirement.
## 1. Store
### 1.1 Revisions
- API-1 Revisions increase.
- API-2 Each write takes one.
  - API-9 is not at the margin.
#### Watches
- API-3 In order.
| - API-8 | a row of a table |
## 2. Open
- OPEN-1 Is that so?
- SRC-1 A book.
"""

CONFTEST = """
import pathlib
from tests.house import spec_report

def pytest_addoption(parser):
    parser.addoption("--spec-report", action="store_true")

def pytest_configure(config):
    spec = spec_report.Spec.read(pathlib.Path(__file__).parent / "spec.md")
    config.pluginmanager.register(spec_report.SpecReport(spec))
"""

INI = """
[pytest]
addopts = --strict-markers
markers =
    long: takes minutes
    spec(*ids): proves these
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a specification of three requirements."""
    pytester.makefile(".md", spec=SPEC)
    pytester.makeconftest(CONFTEST)
    pytester.makeini(INI)
    return pytester


def test_requirements_are_read_with_their_sections(tmp_path: Path) -> None:
    """A requirement is a line at the margin; its section is the heading it stands under."""
    path = tmp_path / "spec.md"
    path.write_text(SPEC)
    spec = Spec.read(path)
    assert spec.section_of == {
        "API-1": "1.1 Revisions",
        "API-2": "1.1 Revisions",
        "API-3": "1.1 Revisions: Watches",
    }
    assert spec.uncounted == {"OPEN-1", "SRC-1"}


def test_every_requirement_of_the_specification_counts() -> None:
    """docs/spec.md has as many ids as requirement lines: none is given twice."""
    path = Path(__file__).parent.parent.parent / "docs/spec.md"
    lines = [line for line in path.read_text().splitlines() if line.startswith("- ")]
    names = [line.split()[1] for line in lines]
    named = [n for n in names if n[0].isupper() and n.rpartition("-")[2].isdigit()]
    counted = [n for n in named if not n.startswith(("OPEN-", "SRC-"))]
    assert sorted(Spec.read(path).section_of) == sorted(counted)


def test_what_passing_tests_cite_is_counted(project: pytest.Pytester) -> None:
    """Each id counts once, however many tests cite it; the others are told by section."""
    project.makepyfile(
        """
        import pytest

        @pytest.mark.spec("API-1", "API-3")
        def test_one(): pass

        @pytest.mark.spec("API-1")
        @pytest.mark.parametrize("n", [1, 2])
        def test_two(n): pass
        """
    )
    result = project.runpytest("--spec-report")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "spec: 2 of 3 requirements cited by passing tests",
            "uncited, by section of docs/spec.md:",
            "  1.1 Revisions",
            "    API-2",
        ],
        consecutive=True,
    )


def test_a_full_count_leaves_nothing_to_tell(project: pytest.Pytester) -> None:
    """When all is cited the report is one line."""
    project.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.spec("API-1", "API-2", "API-3")

        def test_all(): pass
        """
    )
    result = project.runpytest("--spec-report")
    result.stdout.fnmatch_lines(["spec: 3 of 3 requirements cited by passing tests"])
    result.stdout.no_fnmatch_line("*uncited*")


@pytest.mark.parametrize(
    "body",
    [
        "def test_it(): assert False",
        "def test_it(): pytest.skip('not today')",
        "@pytest.mark.xfail\ndef test_it(): assert False",
        "@pytest.mark.xfail\ndef test_it(): pass",
        "@pytest.mark.long\ndef test_it(): pass",
        "@pytest.fixture\ndef broken(): assert False\ndef test_it(broken): pass",
        "@pytest.fixture\ndef broken():\n    yield\n    assert False\ndef test_it(broken): pass",
    ],
    ids=["fails", "skipped", "xfails", "xpasses", "left out", "no setup", "no teardown"],
)
def test_a_test_that_did_not_pass_proves_nothing(project: pytest.Pytester, body: str) -> None:
    """Failed, skipped, expected to fail, left out, or broken around the edges: not counted."""
    project.makepyfile(f"import pytest\npytestmark = pytest.mark.spec('API-1')\n{body}\n")
    result = project.runpytest("--spec-report", "-m", "not long")
    result.stdout.fnmatch_lines(["spec: 0 of 3 requirements cited by passing tests"])


@pytest.mark.parametrize(
    ("cited", "why"),
    [
        ("'API-33'", "cites API-33, which docs/spec.md does not have; the nearest id is API-3"),
        ("'api-2'", "cites api-2, which docs/spec.md does not have; the nearest id is API-2"),
        ("'OPEN-1'", "cites OPEN-1, an open question or a source: no test can prove it"),
        ("3", "cites 3; write the ids as strings*"),
    ],
)
def test_citing_what_is_not_there_is_an_error_of_usage(
    project: pytest.Pytester, cited: str, why: str
) -> None:
    """No test runs, report or not; the message names the test and the nearest id."""
    project.makepyfile(
        test_store=f"import pytest\n@pytest.mark.spec({cited})\ndef test_it(): pass\n"
    )
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: test_store.py::test_it {why}"])
    result.stdout.no_fnmatch_line("*passed*")


def test_without_the_option_nothing_is_told(project: pytest.Pytester) -> None:
    """An ordinary run is not lengthened."""
    project.makepyfile("def test_it(): pass")
    project.runpytest().stdout.no_fnmatch_line("spec:*")
