"""Latency: how long requests, answers and deliveries take in virtual time, as a scenario states it.

It is no fault and no choice: each Option that a Latency names is due that much later, in every Run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

import attrs

from testbed.code.whose import at_place
from testbed.errors import ScenarioError, UnknownName, did_you_mean
from testbed.objects.kinds import kinds_below
from testbed.store.endpoint import Operation
from testbed.words import MEANT, PAST, meant, spoken

GLOB = re.compile(r"[*?\[]")
LONGEST_MS = 10**9


@attrs.frozen
class Latency:
    """How long one kind of Operation takes."""

    what: str
    """A verb and a kind (`bind pods`), or a key (`* pods/default/c`); both may be globs."""
    actor: str = "*"
    """Who asks."""
    at: str = "*"
    """The Endpoint that is asked."""
    serve_ms: int | None = None
    """From the moment it is asked until it takes effect."""
    answer_ms: int | None = None
    """From its effect until its caller is told."""
    deliver_ms: int | None = None
    """Of a watch: from a commit until a reader is told of it."""
    place: str = attrs.field(default="", eq=False, repr=False)
    """The file and the line that states it."""

    def __attrs_post_init__(self) -> None:
        """Refuse what could never match, or says no time."""
        for name in ("what", "actor", "at"):
            if not isinstance(given := getattr(self, name), str):
                self._refuse(f"a text as `{name}`, not {given!r}", "say `bind pods`, or `alpha`")
        verb, _, key = self.what.partition(" ")
        if not key or " " in key:
            self._refuse("a verb and a kind", "say `bind pods`, or `get pods/default/c`")
        times = {name: getattr(self, name) for name in ("serve_ms", "answer_ms", "deliver_ms")}
        stated = {name: ms for name, ms in times.items() if ms is not None}
        if not stated:
            self._refuse("how long", "say serve_ms=…, answer_ms=…, or of a watch deliver_ms=…")
        for name, ms in stated.items():
            if type(ms) is not int or not 0 <= ms <= LONGEST_MS:
                self._refuse(f"{name} in whole milliseconds, not {ms!r}", f"say {name}=35_000")
        if self.deliver_ms is not None and verb != "watch":
            self._refuse("`watch` for deliver_ms", f"say `watch {key}`")
        known = {*PAST, *MEANT}
        base = verb.partition("/")[0]
        # An Endpoint may know verbs of its own, so only what looks misspelt is refused.
        if base not in known and not GLOB.search(base) and did_you_mean(base, sorted(known)):
            raise UnknownName("verb", base, sorted(known), see="name one of these, or use a glob")
        kinds = {cls.plural: cls for cls in kinds_below() if cls.plural}
        plurals = sorted(kinds)
        if not GLOB.search(key) and key.partition("/")[0] not in plurals:
            plural = key.partition("/")[0]
            raise UnknownName("kind of object with the plural", plural, plurals, see="use one")
        plural, _, rest = key.partition("/")
        if rest and "/" not in rest and not GLOB.search(key) and kinds[plural].is_namespaced:
            asked = spoken(*meant(f"{base}/{rest}"))
            self._refuse(
                f"the namespace and the name of one of the {plural}",
                f"say `{base} {plural}/default/{rest}`, or of a subresource `{asked} {plural}`",
            )

    def _refuse(self, expected: str, step: str) -> None:
        raise ScenarioError(f"world.latency({self.what!r}): expected {expected}.\nNext: {step}.")

    def fits(self, operation: Operation, actor: str, endpoint: str) -> bool:
        """Whether it names that Operation of that actor."""
        if not fnmatchcase(actor, self.actor) or not fnmatchcase(endpoint, self.at):
            return False
        verb, _, key = self.what.partition(" ")
        verb = spoken(*meant(verb))
        word = spoken(operation.verb, operation.subresource)
        if "/" not in key and not GLOB.search(key):
            return key == operation.plural and fnmatchcase(word, verb)
        if fnmatchcase(word, verb) and fnmatchcase(operation.key, key):
            return True
        # As in a race file: the subresource may stand behind the object.
        under = f"{operation.key}/{operation.subresource}"
        is_under = operation.subresource and fnmatchcase(under, key)
        return bool(is_under) and fnmatchcase(operation.verb, verb)


def latency_of(
    stated: Iterable[Latency], part: str, operation: Operation, actor: str, endpoint: str
) -> int:
    """How long that part of it takes: `serve_ms`, `answer_ms` or `deliver_ms`. Of several that name
    it the last one stated counts, so the rule comes first and its exception behind it."""
    found = 0
    for latency in stated:
        ms: int | None = getattr(latency, part)
        if ms is not None and latency.fits(operation, actor, endpoint):
            found = ms
    return found


def check_names(stated: Iterable[Latency], actors: Iterable[str], endpoints: Iterable[str]) -> None:
    """UnknownName if one is of an actor or an Endpoint that the World does not have."""
    for latency in stated:
        for what, name, known in (
            ("actor", latency.actor, sorted(actors)),
            ("endpoint", latency.at, sorted(endpoints)),
        ):
            if name != "*" and not any(fnmatchcase(each, name) for each in known):
                see = f"name one of these in world.latency({latency.what!r}, …)"
                with at_place(latency.place):
                    raise UnknownName(f"{what} of this World", name, known, see=see)
