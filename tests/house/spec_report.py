"""Which requirements of docs/spec.md the passing tests cite: `pytest --spec-report`.

A test cites what it proves with `@pytest.mark.spec("API-3", …)`. Citing what is not there is an
error of usage, told before any test runs; an id counts once a test that cites it has passed.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from pathlib import Path

import attrs
import pytest

UNCOUNTED = ("OPEN", "SRC")
"""Open questions and sources: nothing a test could prove."""
CITED = "cites"
"""By what a test's report says which requirements it cites."""


@attrs.frozen
class Spec:
    """The requirements of a specification, each with the heading it stands under, in order."""

    section_of: dict[str, str]
    uncounted: frozenset[str]

    @classmethod
    def read(cls, path: Path) -> Spec:
        """Find every line `- XXX-n` and every heading of a Markdown file."""
        sections: dict[str, str] = {}
        uncounted: set[str] = set()
        section = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if heading := re.match(r"(#+) (.*)", line):
                parent = section.partition(": ")[0] if len(heading[1]) > 3 else ""
                section = f"{parent}: {heading[2]}" if parent else heading[2]
            elif found := re.match(r"- ([A-Z]+)-\d+\b", line):
                name = found[0].removeprefix("- ")
                if found[1] in UNCOUNTED:
                    uncounted.add(name)
                else:
                    sections[name] = section
        return cls(sections, frozenset(uncounted))

    def refusal(self, cited: object) -> str | None:
        """Why this cannot be cited, and what can; None if it can."""
        if not isinstance(cited, str):
            return f'cites {cited!r}; write the ids as strings: @pytest.mark.spec("API-3")'
        if cited in self.section_of:
            return None
        if cited in self.uncounted:
            return f"cites {cited}, an open question or a source: no test can prove it"
        near = difflib.get_close_matches(cited.upper(), self.section_of, n=1, cutoff=0.0)
        return f"cites {cited}, which docs/spec.md does not have; the nearest id is {near[0]}"


class SpecReport:
    """A pytest plugin: collects what each test cites, and counts what the passing ones do."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.cited_by: dict[str, list[str]] = {}
        """By a test's node id; from its reports, since a worker process may have collected it."""
        self.refused: list[str] = []
        self.passed: dict[str, set[str]] = {}
        """The phases of a test that passed; all three must."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, items: list[pytest.Item], config: pytest.Config
    ) -> None:
        """Note what each test cites, also those about to be left out, and refuse what is not."""
        refused = []
        for item in items:
            cited = [name for mark in item.iter_markers("spec") for name in mark.args]
            item.user_properties += [(CITED, name) for name in cited]
            refused += [
                f"{item.nodeid} {why}" for name in cited if (why := self.spec.refusal(name))
            ]
        if refused and hasattr(config, "workerinput"):
            # A worker process that ends here would be told of as a bug of pytest-xdist.
            self.refused = refused
        elif refused:
            raise pytest.UsageError(*refused)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Let a test fail that cites what is not there, where nothing could be told before."""
        for why in self.refused:
            if why.startswith(f"{item.nodeid} "):
                pytest.fail(why, pytrace=False)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note each phase that passed; a failure that was expected proves nothing."""
        self.cited_by[report.nodeid] = [
            str(name) for what, name in report.user_properties if what == CITED
        ]
        if report.passed and not hasattr(report, "wasxfail"):
            self.passed.setdefault(report.nodeid, set()).add(report.when)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell the count, and by section what is left."""
        if terminalreporter.config.getoption("--spec-report"):
            terminalreporter.section("specification")
            for line in self.lines():
                terminalreporter.write_line(line)

    def lines(self) -> list[str]:
        """The report: one line to count by, then a paragraph for each section."""
        cited = {
            name
            for nodeid, names in self.cited_by.items()
            if self.passed.get(nodeid) == {"setup", "call", "teardown"}
            for name in names
        }
        total = len(self.spec.section_of)
        lines = [f"spec: {len(cited)} of {total} requirements cited by passing tests"]
        left: dict[str, list[str]] = {}
        for name, section in self.spec.section_of.items():
            if name not in cited:
                left.setdefault(section, []).append(name)
        if left:
            lines.append("uncited, by section of docs/spec.md:")
        for section, names in left.items():
            lines.append(f"  {section}")
            lines += textwrap.wrap(
                " ".join(names),
                width=100,
                initial_indent="    ",
                subsequent_indent="    ",
                break_on_hyphens=False,
            )
        return lines
