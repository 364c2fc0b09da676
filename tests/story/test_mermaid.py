"""Mermaid: every line is one that Mermaid reads, whatever names and texts there are."""

from __future__ import annotations

import re

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.story.mermaid import escaped, sequence
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.diagrams import binders, busy, rows_of
from tests.shared.stage import note, world_of

TEXT = r"(?:[^;#\n]|#(?:\d+|lt|gt);)+"
READ = [
    re.compile(pattern)
    for pattern in (
        r"```(?:mermaid)?",
        "sequenceDiagram",
        rf"participant (?:a\d+ as {TEXT}|store)",
        rf"(?:a\d+->>store|store-->>a\d+): {TEXT}",
        rf"Note over (?:a\d+|store)(?:,store)?: {TEXT}",
    )
]
"""What of Mermaid's grammar is used."""


def is_read(line: str) -> bool:
    """Whether Mermaid reads it."""
    return any(pattern.fullmatch(line) for pattern in READ)


@each_row("seed", range(6))
def test_every_line_is_read(seed: int) -> None:
    """Of Runs that are violated and of those that are not."""
    lines = sequence(rows_of(binders(), Uniform(seed)), 30)
    assert all(is_read(line) for line in lines)
    assert len(lines) <= 30
    declared = {line.split()[1] for line in lines if line.startswith("participant")}
    spoken = {name for line in lines for name in re.findall(r"\ba\d+(?=->>|:|,)", line)}
    assert spoken <= declared


def test_no_text_ends_a_line_or_changes_it() -> None:
    """Semicolons, hashes, tags and line ends in what an actor records."""

    async def record(client: Client) -> None:
        client.record("x; end\n%%", of="<b>#1</b>\rend")

    lines = sequence(rows_of(world_of(end=record), Calm()), 30)
    assert all(is_read(line) for line in lines)
    assert "participant a1 as end" in lines
    assert escaped("a;b#c<d>\ne") == "a#59;b#35;c#lt;d#gt; e"


@each_row("lines_max", [14, 20, 40])
def test_it_keeps_to_the_lines_it_is_given(lines_max: int) -> None:
    """What is left out is counted."""
    world = world_of(alpha=busy, beta=busy)
    world.add(*(note(f"n{n}", by="") for n in range(3)))
    lines = sequence(rows_of(world, Uniform(1), "n1 is wrong"), lines_max)
    assert len(lines) <= lines_max
    assert any("more by" in line for line in lines)
    assert all(is_read(line) for line in lines)


def test_whoever_does_not_know_is_noted_once() -> None:
    """Right behind what it does not know."""
    lines = sequence(rows_of(binders(), Uniform(1)), 40)
    place = lines.index("Note over a2: does not know this yet")
    assert lines[place - 1] == "a1->>store: bind pods/default/web → rv 5 (step 26)"
    assert sum("does not know" in line for line in lines) == 1


def test_nothing_is_drawn_of_nothing() -> None:
    """A World in which nobody acts."""
    assert sequence(rows_of(World(), Calm()), 40) == []
