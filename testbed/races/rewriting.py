"""Rewriting: changes a race file in place, so that its comments and its layout stay.

1. The text is read twice: as a Race, to know what it means, and as a Document, to know where in the
   text each value begins and ends.
2. Each change becomes an edit of the text: of one value, or of a line that goes or comes. Only a
   section that is written on one line is written again as a whole.
3. The edits are made from the end of the text to its start, so no edit moves the place of the next.
4. The result is read again, and must be exactly the Race that was meant. YAML can be written in
   more ways than these edits know, and a person's file is never replaced by one that means
   something else: if it differs, nothing is written, and the user is told what to write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from testbed.errors import RaceRefused
from testbed.races import yaml_lines as document
from testbed.races.race import Deviation, Expectation, Hold, Picked, Race, Strike, expect_lines
from testbed.races.racefile import parse
from testbed.races.yaml_lines import Document, quoted
from testbed.world.fault_settings import duration

Edit = tuple[int, int, str]
"""The start and the end of a part of the text, and what stands there afterwards."""
Change = tuple[Deviation, Deviation | None]
"""A line as it was, and as it will be; None if it is removed."""
SECTIONS = {Hold: "holds", Strike: "faults", Picked: "picks"}


def kept(text: str, path: str, expect: Sequence[Expectation]) -> str:
    """Return the text of a race file in which this is expected; its comments stay.

    If only claims turn from `violates` to `holds`, these words change where they stand. Otherwise
    the part is written again.
    """
    race = parse(text, path)
    whole = document.parse(text, path, RaceRefused)
    given = whole.fields("", "")["expect"]
    turned = [each if each in expect else each.held for each in race.expect]
    if turned == [*expect]:
        edits = [*_turned(text, given, [not each.violates for each in expect])]
    elif text[whole.span[0]] == "{":
        edits = [(*given.span, f"[{', '.join(map(_in_braces, expect))}]")]
    else:
        start, end = given.name_span[0], _line_end(text, max(given.name_span[1], _last(given)))
        lines = [*_comments(text, start, end, given), *expect_lines(tuple(expect))]
        edits = [(start, end, "\n".join(lines))]
    return _checked(_edited(text, edits), path, attrs.evolve(race, expect=tuple(expect)))


def _turned(text: str, given: Document, must_hold: Sequence[bool]) -> Iterator[Edit]:
    sides = given.value if isinstance(given.value, list) else [given]
    for side, holds in zip(sides, must_hold, strict=True):
        claim = side.fields("", "").get("violates")
        if claim is not None and holds:
            start, end = claim.name_span
            yield start, end, text[start:end].replace("violates", "holds")
            start, end = claim.span
            yield start, end, f"[{text[start:end]}]"


def _in_braces(side: Expectation) -> str:
    """One expectation as JSON, which is YAML, too."""
    told = {"violates": side.violates} if side.violates else {"holds": list(side.holds)}
    return json.dumps({"switches": dict(side.switches), **told} if side.switches else told)


def _comments(text: str, start: int, end: int, given: Document) -> list[str]:
    """The comments between two places, each as a line of its own; no scalar is taken for one."""
    scalars = [given.name_span, *_scalars(given)]
    found, place = [], start
    while (place := text.find("#", place, end)) >= 0:
        inside = next((to for since, to in scalars if since <= place < to), None)
        if inside is None:
            found.append(text[place : _line_end(text, place)].rstrip())
        place = _line_end(text, place) if inside is None else inside
    return found


def _scalars(given: Document) -> Iterator[tuple[int, int]]:
    """Where each text and each name within it begins and ends."""
    if isinstance(given.value, str):
        yield given.span
    inner = given.value.values() if isinstance(given.value, dict) else given.value
    for each in () if isinstance(inner, str) else inner:
        yield each.name_span
        yield from _scalars(each)


def changed(text: str, path: str, changes: Sequence[Change], added: Sequence[Deviation]) -> str:
    """Return the text of a race file with these lines changed or added; the rest stays as it is."""
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
    """Yield the edits of one section, `holds`, `faults` or `picks`."""
    new_lines = [line for deviation in more for line in _lines_of(deviation)]
    if name not in fields:
        # A new section stands before `expect`, which a race file ends with.
        place = fields["expect"].name_span[0] if "expect" in fields else len(text)
        yield place, place, "\n".join([f"{name}:", *new_lines]) + "\n"
        return
    given = fields[name]
    left = [new for _, new in lines if new is not None]
    is_longer_or_shorter = bool(more) or len(left) < len(lines)
    if not (left or more) or (text[given.span[0]] == "[" and is_longer_or_shorter):
        # Nothing is left, or a list in brackets gets longer or shorter: then there are no lines to
        # add or remove, so the section is written again. Comments on lines of their own stay.
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
    if new_lines:
        end = _line_end(text, _last(items[-1]))
        yield end, end, "".join(f"\n{line}" for line in new_lines)


def _fields(old: Deviation, new: Deviation, item: Document) -> Iterator[Edit]:
    """Yield the edits of one line of a race, one for each value that has changed."""
    fields = item.fields("", "")
    for name, value in _values(new).items():
        was = _values(old)[name]
        if isinstance(new, Picked):
            (only,) = fields.values()
            yield *only.name_span, quoted(new.sentence)
            yield *only.span, quoted(new.alternative)
        elif value != was:
            yield *fields[name].span, quoted(value)


def _values(deviation: Deviation) -> dict[str, str]:
    """The values of a line that may change, by the names of their fields."""
    if isinstance(deviation, Hold):
        return {"hold": str(deviation.what), "until": deviation.until_text}
    if isinstance(deviation, Picked):
        return {"pick": str(deviation)}
    values = {deviation.fault.word: deviation.target}
    moment = deviation.moment
    if moment is not None:
        values[deviation.when] = duration(moment) if isinstance(moment, int) else str(moment)
    return values


def _lines_of(deviation: Deviation) -> list[str]:
    section = {SECTIONS[type(deviation)]: (deviation,)}
    return Race("x", **section).text().splitlines()[2:]  # type: ignore[arg-type]


def _last(given: Document) -> int:
    """The end of the last text in it. To YAML a block ends only where the next one begins, which is
    behind the comments between the two."""
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
    """Return that text if it is read as the Race that was meant; otherwise refuse."""
    try:
        is_meant = parse(text, path) == meant
    except RaceRefused:
        is_meant = False
    if is_meant:
        return text
    raise RaceRefused(
        f"{path}: it is written in a way that cannot be changed line by line.\n"
        f"Next: write it again, as\n{meant.text()}"
    )
