"""Race file: a text into a Race, each mistake told with its line and what was expected there.

Reading one imports nothing and makes nothing but data: whoever plays it decides whose code that is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import attrs

from testbed import document
from testbed.document import Document
from testbed.errors import HarnessError, RaceRefused
from testbed.fault import Fault
from testbed.fault_kinds import fault_kinds, fault_of
from testbed.objects.meta import Map
from testbed.pattern import FORMS, Pattern, parse_pattern
from testbed.race import (
    DURATIONS,
    NO_SWITCHES,
    QUIET,
    REQUESTS,
    SETTINGS,
    Expectation,
    Hold,
    Picked,
    Race,
    State,
    Strike,
    Until,
    aim,
    parse_duration,
)

_STATE = re.compile(r"(?P<who>\S+) is (?P<state>up|down)")


def load(path: str) -> Race:
    """Read a race file; RaceRefused says which line is wrong, and how."""
    return parse(document.read(path, RaceRefused), path)


def parse(text: str, path: str) -> Race:
    """The Race that a text is."""
    top = document.parse(text, path, RaceRefused)
    fields = top.fields("a mapping with `scenario:`", "begin with `scenario: lost_update`.")
    _check_names(fields, ("scenario", "switches", "without", "holds", "faults", "picks", "expect"))
    if "scenario" not in fields:
        top.refuse("no scenario is named", "begin with `scenario: lost_update`.")
    return Race(
        fields["scenario"].text("the name of a scenario", "say `scenario: lost_update`."),
        _switches(fields.get("switches")),
        _names(fields.get("without")),
        tuple(_hold(item) for item in _items(fields, "holds")),
        tuple(_strike(item) for item in _items(fields, "faults")),
        tuple(_pick(item) for item in _items(fields, "picks")),
        _expect(fields.get("expect")),
    )


def _check_names(fields: Mapping[str, Document], known: tuple[str, ...]) -> None:
    for name, value in fields.items():
        if name not in known:
            value.refuse(f"unknown name {name!r}", f"use one of {', '.join(known)}.")


def _items(fields: Mapping[str, Document], name: str) -> list[Document]:
    if name not in fields:
        return []
    return fields[name].items(f"a list of {name}", f"write each of the {name} with a dash.")


def _switches(given: Document | None) -> Map[str]:
    if given is None:
        return NO_SWITCHES
    step = "say `switches: {guard: on}`."
    values = given.fields("switches and their values", step)
    return Map({name: value.text("the value of a switch", step) for name, value in values.items()})


def _names(given: Document | None) -> tuple[str, ...]:
    if given is None:
        return ()
    step = "say `[gamma, notes/default/n]`."
    return tuple(name.text("a name", step) for name in given.items("a list of names", step))


def _sentence(given: Document, what: str) -> Pattern:
    text = given.text(what, f"say one of {FORMS}.")
    pattern = parse_pattern(text)
    if pattern is None:
        given.refuse(f"{text!r} is not {what}", f"say one of {FORMS}.")
    return pattern


def _hold(given: Document) -> Hold:
    step = "write `- hold: alpha bind pods/default/c` and below it `until: quiet`."
    fields = given.fields("a hold", step)
    _check_names(fields, ("hold", "until"))
    for name in ("hold", "until"):
        if name not in fields:
            given.refuse(f"a hold without `{name}:`", step)
    what = _sentence(fields["hold"], "the sentence of an operation")
    return Hold(what, _until(fields["until"]), fields["hold"].line)


def _until(given: Document) -> Until:
    text = given.text("the end of a hold", "say an operation, a duration (`5s`) or `quiet`.")
    if text == QUIET:
        return None
    if (ms := parse_duration(text)) is not None:
        return ms
    if state := _STATE.fullmatch(text):
        return State(state["who"], state["state"] == "up")
    return _sentence(given, "the end of a hold: an operation, a duration, a state or `quiet`")


def _strike(given: Document) -> Strike:
    step = "write `- crash: alpha` and below it `after: alpha delete pods/default/v`."
    fields = given.fields("a fault", step)
    kinds = fault_kinds()
    word = next(iter(fields), "")
    if word not in kinds:
        given.refuse(
            f"expected a fault, found {word!r}",
            f"begin with one of {', '.join(sorted(kinds))}, such as `- crash: alpha`.",
        )
    struck = fields.pop(word)
    _check_names(fields, ("after", "before", "at", *SETTINGS))
    target = struck.text(f"whom {word} strikes", step)
    operation = None
    if word in REQUESTS:
        operation = _sentence(struck, "the operation it strikes")
        operation = attrs.evolve(operation, kind="serve")
    settings = {SETTINGS[n]: _setting(n, fields[n]) for n in SETTINGS if n in fields}
    fault = _checked(struck, lambda: fault_of(word, aim(target), **settings))
    when, moment = _moment(fields, given, must=word == "crash")
    return Strike(fault, target, operation, when, moment, given.line)


def _checked(given: Document, make: Callable[[], Fault]) -> Fault:
    try:
        return make()
    except HarnessError as error:
        raise RaceRefused(f"{given.path}, line {given.line}: {error}") from error


def _setting(name: str, given: Document) -> int:
    text = given.text("a setting", f"say `{name}: {'2s' if name in DURATIONS else 2}`.")
    value = parse_duration(text) if name in DURATIONS else _whole(text)
    if value is None:
        expected = "a duration" if name in DURATIONS else "a whole number"
        say = f"say `{name}: {'2s' if name in DURATIONS else 2}`."
        given.refuse(f"{name}: expected {expected}, found {text!r}", say)
    return value


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def _moment(
    fields: Mapping[str, Document], given: Document, *, must: bool
) -> tuple[str, Pattern | int | None]:
    words = [name for name in ("after", "before", "at") if name in fields]
    if len(words) > 1 or (must and not words):
        given.refuse(
            f"expected one of after, before and at, found {', '.join(words) or 'none'}",
            "say when: `after: alpha get notes/default/n`, `before: …` or `at: 20s`.",
        )
    if not words:
        return "", None
    word = words[0]
    if word != "at":
        return word, _sentence(fields[word], "the sentence of an operation")
    text = fields[word].text("a virtual time", "say `at: 20s`.")
    ms = parse_duration(text)
    if ms is None:
        fields[word].refuse(f"at: expected a virtual time, found {text!r}", "say `at: 20s`.")
    return word, ms


def _pick(given: Document) -> Picked:
    step = "write `- alpha node for pods/default/c: n2`."
    fields = given.fields("a pick", step)
    if len(fields) != 1:
        given.refuse(f"expected one pick, found {len(fields)}", step)
    ((said, value),) = fields.items()
    who, _, label = said.partition(" ")
    if not label:
        given.refuse(f"{said!r} is no pick: expected who picks, and what", step)
    label, _, nth = label.partition("#")
    who, _, life = who.partition("@")
    alternative = value.text("the alternative", step)
    return Picked(who, label, alternative, _whole(nth) or 1, _whole(life) or 0, given.line)


def _expect(given: Document | None) -> tuple[Expectation, ...]:
    if given is None:
        return ()
    each = given.value if isinstance(given.value, list) else [given]
    return tuple(_side(item) for item in each)


def _side(given: Document) -> Expectation:
    step = "say `expect: {violates: no_node_is_overcommitted}` or `expect: {holds: [...]}`."
    fields = given.fields("an expectation", step)
    _check_names(fields, ("switches", "violates", "holds"))
    if ("violates" in fields) == ("holds" in fields):
        given.refuse("expected one of violates and holds", step)
    violates = fields["violates"].text("a claim", step) if "violates" in fields else ""
    return Expectation(_switches(fields.get("switches")), violates, _names(fields.get("holds")))
