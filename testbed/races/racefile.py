"""Race file: reads a text as a Race, and reports each mistake with its line and what was expected.

To read one imports no code and makes only data. The scenario stays a name until the Race is played,
and `trust` decides then whether its code may be run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import attrs

from testbed.errors import HarnessError, RaceRefused, did_you_mean
from testbed.fault import Fault
from testbed.objects.meta import Map
from testbed.races import yaml_lines as document
from testbed.races.pattern import FORMS, Pattern, parse_pattern
from testbed.races.race import (
    ALWAYS,
    NO_SWITCHES,
    QUIET,
    Expectation,
    Hold,
    Picked,
    Race,
    State,
    Strike,
    Until,
    aim,
)
from testbed.races.yaml_lines import Document
from testbed.turns.option import ANSWER, SERVE
from testbed.world.budget import LIMIT, limits_in
from testbed.world.fault_kinds import fault_kinds, fault_of
from testbed.world.fault_settings import is_duration, parse_duration, setting_fields

NAMES = ("scenario", "switches", "limits", "without", "holds", "faults", "picks", "expect")
"""What a race file may say, in order."""
_NTH = re.compile(r"(?P<what>.+)#(?P<nth>[1-9][0-9]{0,5})")
_LIFE = re.compile(r"(?P<who>[^@]+)@(?P<life>[1-9][0-9]{0,5})(?P<task>/.*)?")
_STATE = re.compile(r"(?P<who>\S+) is (?P<state>up|down)")


def load(path: str) -> Race:
    """Read a race file; RaceRefused says which line is wrong, and why."""
    return parse(document.read(path, RaceRefused), path)


def parse(text: str, path: str) -> Race:
    """Read a text as a Race."""
    top = document.parse(text, path, RaceRefused)
    fields = top.fields("a mapping with `scenario:`", "begin with `scenario: lost_update`.")
    _check_names(fields, NAMES)
    if "scenario" not in fields:
        top.refuse("no scenario is named", "begin with `scenario: lost_update`.")
    step = "say `scenario: lost_update`."
    scenario = fields["scenario"].text("the name of a scenario", step)
    if not scenario:
        fields["scenario"].refuse("expected the name of a scenario, found nothing", step)
    return Race(
        scenario,
        Map({**_switches(fields.get("switches")), **_limits(fields.get("limits"))}),
        _names(fields.get("without")),
        tuple(_hold(item) for item in _items(fields, "holds")),
        tuple(_strike(item) for item in _items(fields, "faults")),
        tuple(_pick(item) for item in _items(fields, "picks")),
        _expect(fields.get("expect")),
        fields["scenario"].line,
        Map({**_lines(fields.get("switches")), **_lines(fields.get("limits"), f"{LIMIT}.")}),
    )


def _check_names(fields: Mapping[str, Document], known: tuple[str, ...]) -> None:
    for name, value in fields.items():
        if name not in known:
            problem = f"unknown name {name!r}"
            if hint := did_you_mean(name, known):
                problem += f".{hint}"
            value.refuse_name(problem, f"use one of {', '.join(known)}.")


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


def _limits(given: Document | None) -> Map[str]:
    """The limits of the World, as the switches that they are."""
    if given is None:
        return NO_SWITCHES
    step = "say `limits: {until_ms: 45000}`."
    texts = {
        f"{LIMIT}.{name}": value.text("a limit", step)
        for name, value in given.fields("limits and their values", step).items()
    }
    try:
        limits_in(texts)
    except HarnessError as error:
        given.refuse(str(error).partition("\n")[0].rstrip("."), step)
    return Map(texts)


def _lines(given: Document | None, prefix: str = "") -> Map[int]:
    """The line on which each of these names stands."""
    fields = {} if given is None or not isinstance(given.value, dict) else given.value
    return Map({f"{prefix}{name}": value.name_line for name, value in fields.items()})


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
    if (ms := parse_duration(text)) is not None and ms >= 0:
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
        hint = did_you_mean(word, kinds)
        given.refuse(
            f"expected a fault, found {word!r}" + (f".{hint}" if hint else ""),
            f"begin with one of {', '.join(sorted(kinds))}, such as `- crash: alpha`.",
        )
    struck, kind = fields.pop(word), kinds[word]
    _check_names(fields, ("after", "before", "at", *_settings_of(kind)))
    target = struck.text(f"what {word} strikes", step)
    operation = None
    if kind.strikes_requests:
        operation = _sentence(struck, "the operation it strikes")
        if operation.kind not in (SERVE, ANSWER):
            struck.refuse(f"{word}: {target!r} is no request", "say `alpha bind pods/default/c`.")
        operation = attrs.evolve(operation, kind=SERVE)
        target = str(operation)
    names = setting_fields(kind)
    settings = {names[n]: _setting(n, fields[n], kind) for n in names if n in fields}
    if kind.strikes_requests and "until" in fields and "times" not in fields:
        settings["times_max"] = ALWAYS
    long = kind.length
    if long in fields and "until" in fields:
        given.refuse(f"{word}: {long} and until both say how long it lasts", "leave one out.")
    fault = _checked(struck, lambda: fault_of(word, aim(target), **settings))
    when, moment = _moment(fields, given, must=word == "crash")
    return Strike(fault, target, operation, when, moment, given.line)


def _settings_of(kind: type[Fault]) -> list[str]:
    """The settings of that kind of fault that a race file may give.

    `until` only goes with a fault that lasts, or that strikes one request after another.
    """
    has_until = kind.strikes_requests or kind.length
    return [name for name in setting_fields(kind) if name != "until" or has_until]


def _checked(given: Document, make: Callable[[], Fault]) -> Fault:
    try:
        return make()
    except HarnessError as error:
        raise RaceRefused(f"{given.path}, line {given.line}: {error}") from error


def _setting(name: str, given: Document, kind: type[Fault]) -> int:
    takes_duration = is_duration(setting_fields(kind)[name])
    say = f"say `{name}: {'2s' if takes_duration else 2}`."
    text = given.text("a setting", say)
    value = parse_duration(text) if takes_duration else _whole(text)
    is_refused = value is not None and value < 0 and not kind.allows_negative
    if value is None or is_refused or (name == "times" and not value):
        expected = {"times": "how often, from 1", "until": "a virtual time", "code": "a number"}
        wanted = expected.get(name, "a duration" if takes_duration else "a whole number")
        given.refuse(f"{name}: expected {wanted}, found {text!r}", say)
    return value


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else None


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
    if ms is None or ms < 0:
        fields[word].refuse(f"at: expected a virtual time, found {text!r}", "say `at: 20s`.")
    return word, ms


def _pick(given: Document) -> Picked:
    step = "write `- alpha node for pods/default/c: n2`."
    fields = given.fields("a pick", step)
    if len(fields) != 1:
        given.refuse(f"expected one pick, found {len(fields)}", step)
    ((sentence, value),) = fields.items()
    who, _, label = sentence.partition(" ")
    if not who or not label:
        given.refuse(f"{sentence!r} is no pick: expected who picks, and what", step)
    nth = life = 0
    if numbered := _NTH.fullmatch(label):
        label, nth = numbered["what"], int(numbered["nth"])
    if lived := _LIFE.fullmatch(who):
        who, life = lived["who"] + (lived["task"] or ""), int(lived["life"])
    return Picked(who, label, value.text("the alternative", step), nth or 1, life, given.line)


def _expect(given: Document | None) -> tuple[Expectation, ...]:
    if given is None:
        return ()
    each = given.value if isinstance(given.value, list) else [given]
    sides = tuple(_side(item) for item in each)
    for side, item in zip(sides, each, strict=True):
        if len([other for other in sides if other.switches == side.switches]) > 1:
            item.refuse("two sides under the same switches", "give each switches of its own.")
    return sides


def _side(given: Document) -> Expectation:
    step = "say `expect: {violates: no_node_is_overcommitted}` or `expect: {holds: [...]}`."
    fields = given.fields("an expectation", step)
    _check_names(fields, ("switches", "violates", "holds"))
    if ("violates" in fields) == ("holds" in fields):
        given.refuse("expected one of violates and holds", step)
    violates = fields["violates"].text("a claim", step) if "violates" in fields else ""
    if "violates" in fields and not violates:
        fields["violates"].refuse("expected a claim, found nothing", step)
    switches, holds = _switches(fields.get("switches")), _names(fields.get("holds"))
    return Expectation(switches, violates, holds, given.line, _lines(fields.get("switches")))
