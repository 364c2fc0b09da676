"""Answers show states that were: each of one revision, and none too old (API-7, API-39, API-51)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.apiserver.invariants.asked import UNCONDITIONAL, asked_of_server
from testbed import Evidence, Invariant, NotFound
from testbed.invariant import SERVED
from testbed.turns.found import UNEQUAL, Found, Wrong, told
from testbed.turns.trace import Step


class AnswersShowWhatWas(Invariant):
    """A list shows all objects that its selector matched at the one revision it names, in the order
    of their keys. A get shows an object as it was at its revision. Neither is older than the
    revision that was asked for, nor newer than the Store. A read that names no revision shows the
    present."""

    name = "answers_show_what_was"
    breach_reason = UNEQUAL
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({SERVED})

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = asked_of_server(evidence)
        if request is None or not request.is_served or request.operation.verb not in READ:
            return None
        wrong = READ[request.operation.verb](request, evidence)
        if not wrong:
            return None
        who, operation = request.role.name, request.operation
        things = (operation.key,) if operation.verb == "get" else ()
        return told(wrong, *things, before=f"{who} {operation} ", actors=who)


def _wrong_in_list(request: Any, evidence: Evidence) -> str | Found:
    if request.error is not None:
        return ""
    operation, store, listing = request.operation, evidence.store, request.value
    at, asked = int(str(listing.revision)), str(operation.revision)
    options = operation.options
    if at > store.revision:
        return f"was shown rv {at}, and there is none after rv {store.revision}"
    token = options.get("continue")
    if not asked and not token and at != store.revision:
        return f"was shown rv {at}, and asked for what is, at rv {store.revision}"
    if asked not in UNCONDITIONAL and at < int(asked):
        return f"was shown rv {at}, and asked for rv {asked} or newer"
    if options.get("match") == "Exact" and at != int(asked):
        return f"was shown rv {at}, and asked for rv {asked}"
    if at < store.compacted:
        return ""
    space = operation.selector.namespace
    prefix = f"{operation.plural}/{space}/" if space else f"{operation.plural}/"
    there = [e.value for e in store.snapshot(prefix, at) if operation.selector.has(e)]
    return _wrong_in_page(list(listing.items), there, bool(token), bool(listing.more), at)


def _wrong_in_page(
    items: list[Any], there: list[Any], has_begun: bool, goes_on: bool, at: int
) -> str | Found:
    """What is wrong with a page: it has to be a part of the whole list, without a gap, and its
    beginning and its end unless it says otherwise."""
    start = len(there)
    if items and items[0] in there:
        start = there.index(items[0])
    page = there[start : start + len(items)]
    is_whole = (has_begun or page == there[: len(items)]) and (
        goes_on or len(page) == len(there) or (has_begun and start + len(items) == len(there))
    )
    if page == items and is_whole:
        return ""
    text = f"was shown {_listed(items)} of rv {at}, when there was {_listed(there)}"
    return Found.of(
        text, *(each for each in (*there, *items) if each not in there or each not in items)
    )


def _wrong_in_get(request: Any, evidence: Evidence) -> str:
    operation, store = request.operation, evidence.store
    asked = str(operation.revision)
    now = store.peek(operation.key)
    if request.error is not None:
        is_wrong = isinstance(request.error, NotFound) and not asked and now is not None
        return "was told that there is none, and there is" if is_wrong else ""
    value = request.value
    at = int(str(value.meta.revision))
    if not asked and (now is None or now.value is not value):
        return f"was shown rv {at}, which is not as it is"
    if at < store.compacted:
        return ""
    then = store.peek(operation.key, at) if at <= store.revision else None
    if then is None or then.value != value:
        return f"was shown what never was at rv {at}"
    later = next((c for c in store.log(operation.plural).after(at) if c.key == operation.key), None)
    if asked not in UNCONDITIONAL and later is not None and later.revision <= int(asked):
        return f"was shown rv {at}, and asked for rv {asked} or newer"
    return ""


def _listed(items: list[Any]) -> str:
    """Objects as a sentence lists them."""
    return ", ".join(f"{each.key} rv {each.meta.revision}" for each in items) or "nothing"


READ = {"get": _wrong_in_get, "list": _wrong_in_list}
