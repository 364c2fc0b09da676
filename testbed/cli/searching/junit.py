"""A search as a JUnit file: a test case for each claim, which fails with what was found."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

from testbed.errors import ScenarioError
from testbed.search.finding import Finding


def write_junit(
    path: str,
    scenario: str,
    claims: list[str],
    found: Mapping[str, list[tuple[Finding, str]]],
    undecided: str,
    properties: Mapping[str, object],
) -> None:
    """Write the file. `found` has the Findings of each claim with their text; `undecided` says why
    the search did not decide, or is empty."""
    failures = sum(bool(found.get(claim)) for claim in claims)
    skipped = len(claims) - failures if undecided else 0
    suite = ElementTree.Element(
        "testsuite",
        name=f"testbed search {scenario}",
        tests=str(len(claims)),
        failures=str(failures),
        errors="0",
        skipped=str(skipped),
    )
    listed = ElementTree.SubElement(suite, "properties")
    for name, value in properties.items():
        ElementTree.SubElement(listed, "property", name=name, value=_clean(str(value)))
    for claim in claims:
        case = ElementTree.SubElement(suite, "testcase", classname=scenario, name=claim)
        texts = found.get(claim, [])
        if texts:
            _note_data(case, [finding for finding, _ in texts])
            message = "; ".join(dict.fromkeys(finding.said for finding, _ in texts))
            failure = ElementTree.SubElement(case, "failure", message=_clean(message), type="race")
            failure.text = _clean("\n\n".join(text for _, text in texts))
        elif undecided:
            ElementTree.SubElement(case, "skipped", message=_clean(f"undecided: {undecided}"))
    try:
        ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise ScenarioError(
            f"--junitxml {path}: cannot be written: {error.strerror}.\n"
            "Next: name a file in a folder that exists, on a disk with room."
        ) from error


def _note_data(case: ElementTree.Element, findings: list[Finding]) -> None:
    """Note what these Findings are about, and which kinds of breach they are, as properties."""
    noted = ElementTree.SubElement(case, "properties")
    for finding in findings:
        about = ", ".join(name for names in finding.about.values() for name in names)
        for name, value in (("reason", finding.reason), ("about", about)):
            if value:
                ElementTree.SubElement(noted, "property", name=name, value=_clean(value))


def _clean(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return "".join(c for c in text if c >= " " or c in "\n\t")
