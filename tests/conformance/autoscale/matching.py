"""Matching: whether ours is one of the results that were seen, and where it is not.

A leaf `{"any_of": […]}` may be any of these, one `{"varies": true}` anything, or nothing at all. A
log of which only that is said does not bind. Of several outcomes one has to be met as a whole.

The writes of one pass are in order, but alike ones in a row are not, nor is what several tasks did
side by side within one instant, between passes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby, zip_longest
from typing import Any

Told = dict[str, Any]
NEAR_SHARE, NEAR_TIME = 2e-9, 1.1e-3
"""How far two shares, and two times, may be apart that were rounded."""
SHARES = ("cpu", "memory")
UNBOUND = (["varies"], ["any_of"])
"""What a log is of which nothing binds."""
ABSENT = object()
ABOUT = ("object", "nodes", "message")
"""What an entry of a log is about; messages have names in them, too."""


def mismatches(expect: Told, ours: Told) -> list[str]:
    """Where ours differs from what was recorded; from the nearest outcome if there are several."""
    seen = expect.get("outcomes") or [expect]
    found = [list(_of_outcome(each, ours)) for each in seen]
    nearest = min(found, key=len)
    if nearest and len(seen) > 1:
        return [f"none of {len(seen)} outcomes; of the nearest differs:", *nearest]
    return nearest


def _of_outcome(expect: Told, ours: Told) -> Iterator[str]:
    passes = list(spelled_out(expect["passes"]))
    for one, other in zip_longest(passes, ours["passes"]):
        if one is None or other is None:
            at = (one or other)["t"]
            yield f"pass at {at}: {'ours has none' if other is None else 'only ours has it'}"
            continue
        yield from (f"pass at {one['t']}: {each}" for each in unlike_at(one, other, ""))
    if expect["log"] not in UNBOUND:
        yield from _of_logs(expect["log"], ours["log"], {_instant(each["t"]) for each in passes})
    yield from (f"final: {each}" for each in unlike_at(expect["final"], ours["final"], ""))


def spelled_out(passes: Iterable[Told]) -> Iterator[Told]:
    """Each pass in full: one that is the `same` as the one before has that one's fields."""
    before: Told = {}
    for each in passes:
        before = {**before, "t": each["t"]} if each.get("same") else each
        yield before


# -- leaves ---------------------------------------------------------------------------------------


def unlike_at(expect: Any, ours: Any, path: str) -> Iterator[str]:
    """Each leaf that differs."""
    if isinstance(expect, dict) and set(expect) <= {"varies", "any_of"} and expect:
        if not fits_choice(expect, ours):
            yield f"{path or 'all'}: expected one of {expect['any_of']}, found {_shown(ours)}"
    elif isinstance(expect, dict) and isinstance(ours, dict):
        for name in [*expect, *(each for each in ours if each not in expect)]:
            below = f"{path}.{name}" if path else name
            yield from unlike_at(expect.get(name, ABSENT), ours.get(name, ABSENT), below)
    elif isinstance(expect, list) and isinstance(ours, list) and len(expect) == len(ours):
        for place, (one, other) in enumerate(zip(_in_order(expect), _in_order(ours), strict=True)):
            yield from unlike_at(one, other, f"{path}[{place}]")
    elif not _is_same(expect, ours, NEAR_SHARE if path.endswith(SHARES) else NEAR_TIME):
        yield f"{path}: expected {_shown(expect)}, found {_shown(ours)}"


def fits_choice(expect: Told, ours: Any) -> bool:
    """Whether ours is one of several that were seen."""
    if "varies" in expect:
        return True
    return any(not list(unlike_at(each, ours, "")) for each in expect["any_of"])


def _in_order(items: list[Any]) -> list[Any]:
    """A list of plain texts has no order in the recording; any other is as it is."""
    return sorted(items) if all(isinstance(each, str) for each in items) else items


def _is_same(expect: Any, ours: Any, near: float) -> bool:
    if isinstance(expect, bool) or isinstance(ours, bool):
        return expect is ours
    if isinstance(expect, int | float) and isinstance(ours, int | float):
        return abs(expect - ours) < near
    return bool(expect == ours) and (expect is ABSENT) == (ours is ABSENT)


def _shown(value: Any) -> str:
    return "nothing" if value is ABSENT else json.dumps(value)


# -- logs -----------------------------------------------------------------------------------------


def _of_logs(expect: list[Told], ours: list[Told], passes: set[int]) -> Iterator[str]:
    """The first instant at which the two logs differ. If not even the times bind, what was done
    may come in any order."""
    if any(isinstance(entry["t"], dict) for entry in expect):
        if not _have_pairs(expect, ours):
            yield f"log: of {len(expect)} entries and {len(ours)} of ours not all are the same"
        return
    theirs, mine = _by_time(expect), _by_time(ours)
    for at in sorted({*theirs, *mine}):
        one, other = theirs.get(at, []), mine.get(at, [])
        if not is_same_instant(one, other, has_order=at in passes):
            yield f"log at {at / 100}:"
            yield from (f"  recorded {json.dumps(each, sort_keys=True)}" for each in one)
            yield from (f"  ours     {json.dumps(each, sort_keys=True)}" for each in other)
            return


def _by_time(log: list[Told]) -> dict[int, list[Told]]:
    """By the time in pieces of ten milliseconds: no two instants of a case are as near."""
    found: dict[int, list[Told]] = {}
    for entry in log:
        found.setdefault(_instant(entry["t"]), []).append(entry)
    return found


def _instant(at: float) -> int:
    return round(100 * at - 0.2)


def is_same_instant(expect: list[Told], ours: list[Told], *, has_order: bool) -> bool:
    """Whether the same was done in one instant; in the same order, if a pass was then."""
    if len(expect) != len(ours):
        return False
    if not _have_pairs(expect, ours):
        return False
    return not has_order or _sorts(expect) == _sorts(ours)


def loosened(entries: list[Told]) -> list[Told]:
    """Entries that are alike but for what they are about, each with all that any of them was about.

    Alike ones were sorted before the repetitions were laid over each other. So which place a node
    has in the list says nothing of it.
    """
    alike: dict[str, list[Told]] = {}
    for entry in entries:
        alike.setdefault(_sort(entry), []).append(entry)
    return [{**entry, **_about(alike[_sort(entry)])} for entry in entries]


def _about(entries: list[Told]) -> Told:
    """What any of them is about, if that was not always the same."""
    found: Told = {}
    for name in ABOUT:
        leaves = [entry[name] for entry in entries if name in entry]
        if any("varies" in leaf for leaf in leaves if isinstance(leaf, dict)):
            found[name] = {"varies": True}
        elif any(isinstance(leaf, dict) for leaf in leaves):
            found[name] = {"any_of": [each for leaf in leaves for each in _seen(leaf)]}
    return found


def _seen(leaf: Any) -> list[Any]:
    return list(leaf["any_of"]) if isinstance(leaf, dict) else [leaf]


def _have_pairs(expect: list[Told], ours: list[Told]) -> bool:
    """Whether each entry of one list can be paired with another one of the other."""
    fits = [
        [n for n, other in enumerate(ours) if not any(unlike_at(entry, other, ""))]
        for entry in loosened(expect)
    ]
    taken: dict[int, int] = {}

    def take(place: int, tried: set[int]) -> bool:
        for other in fits[place]:
            if other not in tried:
                tried.add(other)
                if other not in taken or take(taken[other], tried):
                    taken[other] = place
                    return True
        return False

    return len(expect) == len(ours) and all(take(place, set()) for place in range(len(expect)))


def _sorts(entries: list[Told]) -> list[str]:
    """What was done, one thing after another; alike things in a row are one. What others did
    around the autoscaler is left out."""
    sorts = [_sort(each) for each in entries if "actor" not in each]
    return [sort for sort, _ in groupby(sorts)]


def _sort(entry: Told) -> str:
    return (
        f"{entry.get('verb')} {entry.get('reason', entry.get('key', ''))} {entry.get('kind', '')}"
    )
