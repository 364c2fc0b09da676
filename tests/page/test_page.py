"""The page as a file: its bytes, its script and its policy, without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.page.page import ASSETS, MODULES, STYLES, render
from tests.browser.shared.stolen_slot_page import page_data
from tests.browser.shared.toy_map import toy_map

IMPORTED = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";$', re.MULTILINE)
NAMED = re.compile(r"^(?:export )?(?:async )?(?:const|let|function|class) (\w+)", re.MULTILINE)
KB = 1000
HOSTILE = "</script><!-- <img src=x onerror=alert(1)> & \u2028 \u2029 ' \" {{ page }}"


def part(html: str, begin: str, end: str) -> str:
    """What stands between the two, the last time that the first stands there."""
    return html.rpartition(begin)[2].partition(end)[0]


def test_the_same_data_makes_the_same_bytes_under_any_hash_seed() -> None:
    """In this process twice, and in another with another seed."""
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from tests.browser.shared.stolen_slot_page import page_data\n"
        "from testbed.page.page import render\n"
        "sys.stdout.buffer.write(render(page_data()).encode())"
    )
    once = render(page_data()).encode()
    assert render(page_data()).encode() == once
    other = subprocess.run(
        [sys.executable, "-c", code, *sys.path],
        env={**os.environ, "PYTHONHASHSEED": "7"}, capture_output=True, check=True,
    )  # fmt: skip
    assert other.stdout == once


def test_the_data_comes_out_as_it_went_in() -> None:
    """Whatever it holds, it can neither end the script nor begin another."""
    data = page_data(told_map=toy_map())
    data["claim"] = data["sentences"][0]["said"] = HOSTILE
    html = render(data)
    assert html.count("</script>") == 2
    assert "<img" not in html
    assert json.loads(part(html, 'id="data">', "</script>")) == data


def test_the_policy_lets_only_the_page_s_own_style_and_script_run() -> None:
    """By the digest of each; and nothing may be asked for."""
    html = render(page_data())
    policy = part(html, 'Content-Security-Policy" content="', '">').replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    for begin, end in (("<style>", "</style>"), ('<script type="module">', "</script>")):
        digest = hashlib.sha256(part(html, begin, end).encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert "unsafe" not in policy
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", html.replace("style-src '", ""))


def test_the_page_itself_is_small() -> None:
    """So that the data of a story has its room in 500 kB, and a map in 3 MB."""
    data = page_data()
    assert len(render(data)) - len(json.dumps(data)) < 110 * KB


def test_every_file_of_the_script_is_in_it_once_and_in_order() -> None:
    """Each imports only from files before it, and no name is taken twice in the one module."""
    assert {path.stem for path in ASSETS.glob("script/*.js")} == set(MODULES)
    assert {path.stem for path in ASSETS.glob("style/*.css")} == set(STYLES)
    names: list[str] = []
    for nth, name in enumerate(MODULES):
        text = (ASSETS / f"script/{name}.js").read_text(encoding="utf-8")
        assert set(IMPORTED.findall(text)) <= set(MODULES[:nth]), name
        names += NAMED.findall(text)
    assert sorted(names) == sorted(set(names))
    script = part(render(page_data()), '<script type="module">', "</script>")
    assert not re.findall(r"^(?:import|export)\b", script, re.MULTILINE)


@pytest.mark.parametrize(
    "path", sorted(p for p in ASSETS.rglob("*") if p.is_file()), ids=lambda path: str(path.name)
)
def test_a_file_says_its_one_idea_first(path: Path) -> None:
    """In its first line, and it has at most 400 lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert re.match(r"(//|/\*\*?|\{#) [A-Z].*\.( \*/| #\})?$", lines[0]), lines[0]
    assert len(lines) <= 400
