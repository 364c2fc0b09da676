"""Rewriting: changes a race file line by line, so that its comments and its layout stay.

What comes out is read again, and must be just the Race that was meant; if it is not, nothing is
rewritten, and the user is told what to write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from testbed.errors import RaceRefused
from testbed.races import yaml_lines as document
from testbed.races.race import Expectation, Hold, Picked, Race, Strike
from testbed.races.race_chooser import Deviation
from testbed.races.racefile import parse
from testbed.races.yaml_lines import Document, quoted
from testbed.world.fault_settings import duration

Edit = tuple[int, int, str]
"""From where to where in the text, and what stands there now."""
Change = tuple[Deviation, Deviation | None]
"""A line as it was, and as it is to be; None: it goes."""
SECTIONS = {Hold: "holds", Strike: "faults", Picked: "picks"}


def kept(text: str, path: str) -> str:
    """The same race, expected to hold wherever it was expected to be lost."""
    race = parse(text, path)
    expect = document.parse(text, path, RaceRefused).fields("", "")["expect"]
    edits: list[Edit] = []
    for side in expect.value if isinstance(expect.value, list) else [expect]:
        claim = side.fields("", "").get("violates")
        if claim is not None:
            start, end = claim.name_span
            edits.append((start, end, text[start:end].replace("violates", "holds")))
            start, end = claim.span
            edits.append((start, end, f"[{text[start:end]}]"))
    return _checked(_edited(text, edits), path, attrs.evolve(race, expect=held(race.expect)))


def held(expect: Sequence[Expectation]) -> tuple[Expectation, ...]:
    """The same expectations, with every claim that was to be breached to hold."""
    return tuple(
        attrs.evolve(each, violates="", holds=(each.violates,)) if each.violates else each
        for each in expect
    )


def changed(text: str, path: str, changes: Sequence[Change], added: Sequence[Deviation]) -> str:
    """The same race but for these lines: what a person wrote elsewhere stays as it is."""
    race = parse(text, path)
    fields = document.parse(text, path, RaceRefused).fields("", "")
    edits: list[Edit] = []
    for kind, section in SECTIONS.items():
        mine = {old.line: new for old, new in changes if isinstance(old, kind)}
        more = [deviation for deviation in added if isinstance(deviation, kind)]
        old = getattr(race, section)
        new = [mine.get(each.line, each) for each in old]
        left = (*(each for each in new if each is not None), *more)
        lines: dict[str, Any] = {section: left}
        race = attrs.evolve(race, **lines)
        if left != old:
            edits += _section(text, section, fields, list(zip(old, new, strict=True)), more)
    return _checked(_edited(text, edits), path, race)


def _section(
    text: str,
    name: str,
    fields: dict[str, Document],
    lines: Sequence[Change],
    more: Sequence[Deviation],
) -> Iterator[Edit]:
    """The edits of one section: of all of it, if it is written on one line."""
    said = [line for deviation in more for line in _lines_of(deviation)]
    if name not in fields:
        place = fields["expect"].name_span[0] if "expect" in fields else len(text)
        yield place, place, "\n".join([f"{name}:", *said]) + "\n"
        return
    given = fields[name]
    left = [new for _, new in lines if new is not None]
    is_longer_or_shorter = bool(more) or len(left) < len(lines)
    if not (left or more) or (text[given.span[0]] == "[" and is_longer_or_shorter):
        start, end = given.name_span[0], _line_end(text, max(given.name_span[1], _last(given)))
        whole = [line for line in text[start:end].split("\n") if line.lstrip().startswith("#")]
        if left or more:
            whole.append(f"{name}:")
            whole += [line for deviation in [*left, *more] for line in _lines_of(deviation)]
        yield start, end + 1, "".join(f"{line}\n" for line in whole)
        return
    items = given.items("", "")
    for (old, new), item in zip(lines, items, strict=True):
        if new is None:
            yield _line_start(text, item.span[0]), _line_end(text, _last(item)) + 1, ""
        elif new != old:
            yield from _fields(old, new, item)
    if said:
        end = _line_end(text, _last(items[-1]))
        yield end, end, "".join(f"\n{line}" for line in said)


def _fields(old: Deviation, new: Deviation, item: Document) -> Iterator[Edit]:
    """The edits of one line of a race: of each value that has changed."""
    fields = item.fields("", "")
    for name, value in _said(new).items():
        was = _said(old)[name]
        if isinstance(new, Picked):
            (only,) = fields.values()
            yield *only.name_span, quoted(new.sentence)
            yield *only.span, quoted(new.alternative)
        elif value != was:
            yield *fields[name].span, quoted(value)


def _said(deviation: Deviation) -> dict[str, str]:
    """What may change in a line, by the names of its fields."""
    if isinstance(deviation, Hold):
        return {"hold": str(deviation.what), "until": deviation.until_text}
    if isinstance(deviation, Picked):
        return {"pick": str(deviation)}
    said = {deviation.fault.word: deviation.target}
    moment = deviation.moment
    if moment is not None:
        said[deviation.when] = duration(moment) if isinstance(moment, int) else str(moment)
    return said


def _lines_of(deviation: Deviation) -> list[str]:
    section = {SECTIONS[type(deviation)]: (deviation,)}
    return Race("x", **section).text().splitlines()[2:]  # type: ignore[arg-type]


def _last(given: Document) -> int:
    """Where the last text in it ends; a block itself ends where the next one begins."""
    value = given.value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max(map(_last, inner), default=given.span[1])


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _edited(text: str, edits: Sequence[Edit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _checked(text: str, path: str, meant: Race) -> str:
    """That text, if it is read as what was meant."""
    try:
        is_meant = parse(text, path) == meant
    except RaceRefused:
        is_meant = False
    if is_meant:
        return text
    raise RaceRefused(
        f"{path}: it is written in a way that cannot be changed line by line.\n"
        f"Next: write it anew, as\n{meant.text()}"
    )
