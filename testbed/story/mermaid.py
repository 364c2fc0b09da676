"""Mermaid: the rows of a diagram as a sequence diagram that GitHub and others draw in an issue."""

from __future__ import annotations

from testbed.story.diagram import ASKED, DID, TOLD, Fold, Row, Rows

STORE = "store"
ESCAPED = {"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "\n": " ", "\r": " "}
FRAME = 6
"""The lines beside rows and participants: fences, heading, the store, what broke."""


def sequence(rows: Rows, lines_max: int) -> list[str]:
    """The lines of a Mermaid block, at most `lines_max` if possible; none if there is no row."""
    room = lines_max - FRAME - len({row.actor for row in rows.all})
    fits = max(room - room // 4, 4)
    shown = rows.shown((fits // 2, fits, fits), keeps_trouble=True)
    acting = [row for row in shown if isinstance(row, Row)]
    actors = list(dict.fromkeys(row.actor for row in acting if row.actor != STORE))
    if not actors:
        return []
    names = {actor: f"a{number}" for number, actor in enumerate(actors, 1)} | {STORE: STORE}
    lines = ["```mermaid", "sequenceDiagram"]
    lines += [f"participant {names[actor]} as {escaped(actor)}" for actor in actors]
    lines.append(f"participant {STORE}")
    across = f"{names[actors[0]]},{STORE}"
    blind: set[str] = set()
    for row in shown:
        if isinstance(row, Fold):
            lines.append(f"Note over {across}: {escaped(str(row))}")
            continue
        # A sequence diagram has no dotted lifelines. So a note stands where an actor first does not
        # know what has changed, right behind the row that changed it.
        for actor in actors:
            is_blind = rows.is_blind(actor, row.step)
            if is_blind and actor not in blind and row.actor != actor:
                blind.add(actor)
                lines.append(_line(row, names))
                lines.append(f"Note over {names[actor]}: does not know this yet")
                break
        else:
            lines.append(_line(row, names))
    if rows.broken:
        lines.append(f"Note over {across}: {escaped(f'✗ {rows.broken}')}")
    return [*lines, "```"]


def _line(row: Row, names: dict[str, str]) -> str:
    who, text = names[row.actor], escaped(f"{row.text} (step {row.step})")
    if row.mark == DID:
        return f"{who}->>{STORE}: {text}"
    if row.mark == TOLD:
        return f"{STORE}-->>{who}: {text.removeprefix('is told of ')}"
    mark = "" if row.mark == ASKED else f"{row.mark} "
    return f"Note over {who}: {mark}{text}"


def escaped(text: str) -> str:
    """The text with every character replaced that Mermaid would take for syntax."""
    return "".join(ESCAPED.get(letter, letter) for letter in text)
