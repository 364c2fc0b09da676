"""docs/tutorial.md is true: its files are written and changed, its commands run, in the order in
which they stand, and they say what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from tests.shared.pages import BLOCK, ROOT, Terminal, as_shown, commands, page

PAGE = page("tutorial")
BLOCKS: list[tuple[str, str]] = BLOCK.findall(PAGE)
CODES = {"Held": 0, "Violated": 1}
TAKE_NO_SIDE = ("demo", "show", "sweep", "keep", "mutants")
"""Commands whose exit code is not that of the last verdict that they print."""


@attrs.frozen
class Reader:
    """Somebody who follows the tutorial in a folder."""

    folder: Path
    terminal: Terminal

    def call(self, command: str, few: tuple[str, ...] = ()) -> tuple[int, str]:
        """Type a command; its exit code, and what it prints in all."""
        program, *words = shlex.split(command)
        if program == "cat":
            return 0, "".join((self.folder / word).read_text() for word in words)
        if program == "python":
            done = subprocess.run(
                [sys.executable, *words],
                cwd=self.folder,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=300,
            )
            return done.returncode, done.stdout
        return self.terminal.call(command, self.folder, few=few)

    def change(self, text: str) -> None:
        """Change files as a diff says, whose hunks have no numbers: each fits in one place."""
        for part in re.split(r"^--- ", text, flags=re.MULTILINE)[1:]:
            name, *hunks = re.split(r"\n@@\n|\n\Z", part)
            file = self.folder / name
            for hunk in filter(None, hunks):
                lines = [(line[:1], line[1:]) for line in hunk.splitlines()]
                old = "".join(f"{line}\n" for sign, line in lines if sign != "+")
                new = "".join(f"{line}\n" for sign, line in lines if sign != "-")
                before = file.read_text()
                assert before.count(old) == 1, f"{name}:\n{old}"
                file.write_text(before.replace(old, new))


# -- the page -------------------------------------------------------------------------------------


@attrs.frozen
class Shown:
    """One command of the tutorial."""

    command: str
    output: str
    """What is said to be printed."""
    code: int
    printed: str


@pytest.fixture(scope="module")
def reader(terminal: Terminal, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Somebody in an empty folder."""
    return Reader(tmp_path_factory.mktemp("tutorial"), terminal)


@pytest.fixture(scope="module")
def walked(reader: Reader) -> list[Shown]:
    """The tutorial from end to end: every file, every change, every command."""
    seen = []
    for kind, text in BLOCKS:
        if kind == "python":
            name = text.partition("\n")[0].removeprefix("# ")
            (reader.folder / name).write_text(text, encoding="utf-8")
        elif kind == "diff":
            reader.change(text)
        for command, said in commands(text) if kind == "console" else ():
            few = ("double_bind guard=off", *re.findall(r"fires in (.+?), where", said))
            seen.append(Shown(command, said, *reader.call(command, few)))
    return seen


def test_every_command_prints_what_is_shown(walked: list[Shown]) -> None:
    """Line by line, but for what the tutorial leaves out."""
    for shown in walked:
        assert as_shown(shown.output).fullmatch(shown.printed), f"{shown.command}\n{shown.printed}"


def test_every_exit_code_is_that_of_its_verdict(walked: list[Shown]) -> None:
    """0 held, 1 violated."""
    met = set()
    for shown in walked:
        said = re.findall(rf"^({'|'.join(CODES)})\b", shown.printed, re.MULTILINE)
        if said and shown.command.split()[1] not in TAKE_NO_SIDE:
            assert shown.code == CODES[said[-1]], f"{shown.command}\n{shown.printed}"
            met.add(shown.code)
    assert met == {0, 1}


def test_what_is_kept_is_green(walked: list[Shown]) -> None:
    """To keep the race, to play it by pytest and by check: each exits with 0."""
    tests = ("testbed keep", "python", "testbed check")
    assert [each.code for each in walked if each.command.startswith(tests)] == [0, 0, 0]


def test_setting_up_begins_as_the_readme_does() -> None:
    """With the same line."""
    (line, *_), *_ = (text.splitlines() for kind, text in BLOCKS if not kind)
    assert f"```\n{line}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert line.endswith("/testbed demo")


# -- what is left to the reader -------------------------------------------------------------------

LOST_ANSWER = """\
scenario: "two_pods:two_pods"
switches: {guard: on}
holds:
  - hold: "delivery of pods/default/web-* to web"
    until: "web create pods/default*#2"
faults:
  - lose_reply: "web create pods/default*"
    after: "web create.2 pods/default*"
expect: {holds: []}
"""
NAMED = """\
--- keeper.py
@@
-                for _ in range(2 - len(there) - len(unseen)):
-                    pod = await client.create(self.pod())
-                    if self.guard:
-                        unseen.add(pod.meta.name)
+                for name in sorted({"web-0", "web-1"} - {pod.meta.name for pod in there}):
+                    await client.create(self.pod(name))
@@
-    def pod(self) -> Pod:
-        meta = Meta(generate_name=f"{self.name}-", labels=Map(app=self.name))
+    def pod(self, name: str) -> Pod:
+        meta = Meta(name, labels=Map(app=self.name))
"""


def test_pods_with_names_survive_a_lost_answer(walked: list[Shown], reader: Reader) -> None:
    """Expectations do not, as the tutorial says."""
    (reader.folder / "lost.race.yaml").write_text(LOST_ANSWER)
    command = "testbed replay lost.race.yaml --scenario two_pods.py:two_pods"
    code, printed = reader.call(command)
    assert code == 1, printed
    reader.change(NAMED)
    code, printed = reader.call(command)
    assert code == 0, printed
    assert "matched nothing" not in printed


# -- its shape ------------------------------------------------------------------------------------


def test_every_block_is_a_file_a_change_or_commands() -> None:
    """So nothing is left untried, but for how to set up."""
    for kind, text in BLOCKS[1:]:
        first = {"python": r"# \w+\.py\n", "diff": r"--- \w+\.py\n@@\n", "console": r"\$ "}[kind]
        assert re.match(first, text), text


def test_files_are_small_and_lines_fit() -> None:
    """None is longer than fifty lines, or wider than a hundred columns; a command may be."""
    for kind, text in BLOCKS:
        if kind in ("python", "diff"):
            assert text.count("\n") <= 50
            assert max(map(len, text.splitlines())) <= 100


def test_every_link_leads_somewhere() -> None:
    """Pages beside this one."""
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGE)
    assert links
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
