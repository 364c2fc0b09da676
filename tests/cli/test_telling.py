"""Telling: whoever asks, in whatever form, is told the same sentences of one Finding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from testbed.cli import main
from testbed.races.racefile import load

pytestmark = pytest.mark.usefixtures("own")
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def plain(text: str) -> str:
    """The text on one line, without what Markdown escapes."""
    return " ".join(text.replace("\\", "").split())


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> dict[str, str]:
    """What each form prints of the one Finding of that scenario, and the sentences as data."""

    def run(*args: str) -> str:
        capsys.readouterr()
        assert main(list(args)) == 1
        return capsys.readouterr().out

    search = run("search", request.param, "--out", "found", "--junitxml", "junit.xml",
                 "--until-first")  # fmt: skip
    (path,) = Path("found").glob("*.race.yaml")
    failure = ElementTree.parse("junit.xml").getroot().find(".//failure")
    assert failure is not None
    turned = Path("turned.race.yaml")
    turned.write_text(path.read_text().partition("expect:")[0] + "expect: {holds: []}\n")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(turned)]
    failing = subprocess.run(
        [sys.executable, *words], env=ENV, capture_output=True, text=True, check=False
    )
    assert failing.returncode == 1, failing.stdout
    return {
        "search": search,
        "junit": failure.text or "",
        "explain": run("explain", str(path)),
        "explain --md": run("explain", str(path), "--md"),
        "replay": run("replay", str(path), "--trace", "trace.jsonl"),
        "replay of a trace": run("replay", "trace.jsonl"),
        "pytest": failing.stdout,
        "data": run("explain", str(path), "--json"),
    }


@pytest.mark.parametrize("told", ["lost_update", "double_bind", "two_defaults"], indirect=True)
def test_all_forms_tell_the_same_sentences(told: dict[str, str]) -> None:
    """The cause first, then the rows, then each sentence to the letter; in all seven forms."""
    story = json.loads(told.pop("data"))["story"]
    cause = story["cause"]["said"]
    sentences = [sentence["said"] for sentence in story["sentences"]]
    for form, text in told.items():
        said = plain(text)
        places = [said.find(plain(sentence)) for sentence in [cause, *sentences]]
        assert -1 not in places, (form, cause, sentences, said)
        assert places == sorted(places), form
        rows = "sequenceDiagram" if form == "explain --md" else " step "
        assert places[0] < said.index(rows, places[0] + len(plain(cause))) < places[1], form


@pytest.mark.parametrize("told", ["lost_update"], indirect=True)
def test_what_is_needed_comes_behind_the_story(told: dict[str, str]) -> None:
    """Each line of the race, flipped; then how to play it again."""
    (path,) = Path("found").glob("*.race.yaml")
    (hold,) = load(str(path)).holds
    for form in ("explain", "explain --md", "replay"):
        said = plain(told[form])
        needed = said.index(f"needed {hold}")
        assert said.index("is broken") < needed < said.index("testbed ", needed), form
    for form in ("search", "junit"):
        said = plain(told[form])
        assert said.index("is broken") < said.index(f"late: {hold}") < said.index("needed: every")
        assert said.index("needed: every") < said.index("again: testbed replay")
