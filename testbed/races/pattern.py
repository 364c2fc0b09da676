"""Pattern: a sentence of a race file that names one Option, or several.

    alpha bind pods/default/c            a request: announced, and with no effect yet
    alpha create.2 pods/default/c        the second part of a request that takes several turns
    answer to alpha bind pods/default/c  it has taken effect, and its caller has no answer yet
    delivery of pods/default/d to beta   one Change of one watch
    delivery of DELETED pods/* to beta   one of that type: ADDED, MODIFIED, DELETED or BOOKMARK
    feed of pods to api-2                the next Change that this server's cursor reads
    wake of alpha flush                  a timer that ends, by the name given to `sleep`
    start of beta                        a program starts, or one task of it: `start of beta/binder`
    turn of alpha/loop                   a task of an actor goes on

Four things decide which Options a Pattern means:

- *Globs*: each name may have `*`, `?` and `[…]`. `alpha` means any task of that actor, and
  `alpha/loop` only that one.
- *Numbers*: `#2` means the second Option that fits, counted since the last start of its actor: by
  task if the Pattern names one, otherwise over all its tasks. No number means the first.
  A delivery with a type is counted among those of that type: `DELETED pods/default/d#2` is the
  second DELETED, however many others came.
- *`#*`* means each of them. For a feed no number means that, too: the cursor stands still.
- *Lives*: `alpha@2` means the second life of the actor, after its first restart. Without `@` the
  Pattern fits in any life, and in each one its numbers count from 1 again.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache

import attrs

from testbed.store.delivery import ADDED, BOOKMARK, DELETED, MODIFIED
from testbed.turns.option import ANSWER, DELIVER, FEED, RESUME, SERVE, START, WAKE, Option
from testbed.words import spoken

TYPES = (ADDED, MODIFIED, DELETED, BOOKMARK)
EVERY = 0
"""The number of a Pattern that means each Option that fits."""
_FORMS = {
    ANSWER: re.compile(r"answer to (?P<who>\S+) (?P<verb>\S+) (?P<key>\S+)"),
    DELIVER: re.compile(
        rf"delivery of (?:(?P<change>{'|'.join(TYPES)}) )?(?P<key>\S+) to (?P<who>\S+)"
    ),
    FEED: re.compile(r"feed of (?P<key>\S+) to (?P<who>\S+)"),
    WAKE: re.compile(r"wake of (?P<who>\S+) (?P<verb>\S.*)"),
    START: re.compile(r"start of (?P<who>\S+)"),
    RESUME: re.compile(r"turn of (?P<who>\S+)"),
    # `of` and `to` are no verbs: such a text is one of the forms above, cut short.
    SERVE: re.compile(r"(?P<who>\S+) (?!of |to )(?P<verb>\S+) (?P<key>\S+)"),
}
FORMS = (
    "`alpha bind pods/default/c`, `alpha create.2 pods/default/c`, "
    "`answer to alpha bind pods/default/c`, `delivery of pods/default/c to alpha`, "
    "`feed of pods to api-2`, `wake of alpha flush`, `start of alpha`, `turn of alpha/loop`"
)
NAMES_MAX = 1 << 15
"""How many names are kept: the Runs of one shrink have mostly the same."""
_NTH = re.compile(r"#([1-9][0-9]{0,5}|\*)$")
_NTH_SENT = re.compile(r"#([1-9][0-9]{0,5}|\*)(?= to )")
"""In a delivery or a feed the number stands behind what is sent: `delivery of pods#2 to beta`."""
_LIFE = re.compile(r"@([1-9][0-9]{0,5})(?=$|/)")


@attrs.frozen(cache_hash=True)
class Pattern:
    """One sentence of a race file that names an Option."""

    kind: str
    who: str
    """An actor or an Endpoint, or a task of it."""
    verb: str = ""
    """The verb of a request in everyday words (`bind`), or the name of a timer."""
    key: str = ""
    nth: int = 1
    """Which of the Options that fit; EVERY for all of them."""
    life: int = 0
    """The life of its actor in which it fits; 0: any."""
    change: str = ""
    """The type of the Change that a delivery brings; empty: any."""

    def fits(self, option: Option) -> bool:
        """Whether it names that Option, apart from its number and life, which a Chooser counts."""
        if option.kind != self.kind or not self._fits_actor(option):
            return False
        if self.kind in (SERVE, ANSWER):
            return any(
                fnmatchcase(verb, self.verb) and fnmatchcase(key, self.key)
                for verb, key in verbs_and_keys(option)
            )
        if self.kind == WAKE:
            return fnmatchcase(option.verb, self.verb)
        if self.change and option.change != self.change:
            return False
        return not self.key or fnmatchcase(option.key, self.key)

    def _fits_actor(self, option: Option) -> bool:
        if "/" in self.who:
            return fnmatchcase(option.path, self.who)
        if self.kind == START:
            return option.path in (f"{self.who}/main", f"{self.who}/start") or (
                fnmatchcase(option.path, f"{self.who}/main")
            )
        return fnmatchcase(option.path.partition("/")[0], self.who)

    @property
    def _last(self) -> str:
        """The word that its number is written behind."""
        return self.key or self.verb or self.who

    @property
    def actor_and_life(self) -> str:
        """The actor or task, with its life if one is given: `alpha@2/loop`."""
        if not self.life:
            return self.who
        actor, slash, task = self.who.partition("/")
        return f"{actor}@{self.life}{slash}{task}"

    def __str__(self) -> str:
        whose = self.actor_and_life
        nth = "#*" if self.nth == EVERY else f"#{self.nth}"
        if self.kind == FEED:
            return f"feed of {self.key}{'' if self.nth == EVERY else nth} to {whose}"
        # `#1` is left out, unless the name itself ends like a number (`p#2`): without it the text
        # would be read as the second `p`.
        if self.nth == 1 and not _NTH.search(self._last):
            nth = ""
        if self.kind == DELIVER:
            change = f"{self.change} " if self.change else ""
            return f"delivery of {change}{self.key}{nth} to {whose}"
        before = {ANSWER: "answer to ", WAKE: "wake of ", START: "start of ", RESUME: "turn of "}
        words = [whose, self.verb, self.key]
        return before.get(self.kind, "") + " ".join(word for word in words if word) + nth


def parse_pattern(text: str) -> Pattern | None:
    """Read a sentence as a Pattern; None if it has none of the forms."""
    nth: int | None = None
    bare = text
    numbered = _NTH_SENT if text.startswith(("delivery of ", "feed of ")) else _NTH
    if found := numbered.search(text):
        nth = EVERY if found[1] == "*" else int(found[1])
        bare = text[: found.start()] + text[found.end() :]
    for kind, form in _FORMS.items():
        if match := form.fullmatch(bare):
            parts = {name: part for name, part in match.groupdict().items() if part}
            life = 0
            if lived := _LIFE.search(parts["who"]):
                life = int(lived[1])
                parts["who"] = parts["who"].replace(lived[0], "", 1)
            if nth is None:
                nth = EVERY if kind == FEED else 1
            return Pattern(kind, nth=nth, life=life, **parts)
    return None


def verbs_and_keys(option: Option) -> list[tuple[str, str]]:
    """Return each verb and key that a request may be called by: `bind X`, `create X/binding`."""
    return _verbs_and_keys(option.verb, option.key)


def _verbs_and_keys(asked: str, key: str) -> list[tuple[str, str]]:
    verb, dot, part = asked.partition(".")
    verb, _, subresource = verb.partition("/")
    end = dot + part
    found = [(spoken(verb, subresource) + end, key)]
    if subresource:
        found.append((verb + end, f"{key}/{subresource}"))
    return found


def pattern_of(option: Option, *, by_task: bool, nth: int) -> Pattern | None:
    """Return the Pattern that names that Option; None for a fault or a pick."""
    return _pattern_of(option.kind, option.path, option.verb, option.key, by_task, nth)


def name_of(option: Option, *, by_task: bool, nth: int) -> str:
    """Return what a race file calls an Option."""
    return _name_of(option.kind, option.path, option.verb, option.key, by_task, nth)


@lru_cache(NAMES_MAX)
def _name_of(kind: str, path: str, verb: str, key: str, by_task: bool, nth: int) -> str:
    return str(_pattern_of(kind, path, verb, key, by_task, nth))


def _pattern_of(
    kind: str, path: str, verb: str, key: str, by_task: bool, nth: int
) -> Pattern | None:
    who = path if by_task else path.partition("/")[0]
    if kind in (SERVE, ANSWER):
        called = _verbs_and_keys(verb, key)
        verb, about = called[-1]
        if "/" not in (word := called[0][0]):
            verb, about = word, key
        return Pattern(kind, who, verb, about, nth)
    if kind in (DELIVER, FEED):
        return Pattern(kind, who, "", key, nth)
    if kind == WAKE:
        return Pattern(WAKE, who, verb, "", nth)
    if kind == START:
        is_whole = path.endswith(("/main", "/start"))
        return Pattern(START, path.rpartition("/")[0] if is_whole else path, nth=nth)
    if kind == RESUME:
        return Pattern(RESUME, path, nth=nth)
    return None
