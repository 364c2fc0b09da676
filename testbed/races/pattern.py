"""Pattern: what a race file says of an Option, and which Options it fits.

    alpha bind pods/default/c            its request: announced, and with no effect yet
    alpha create.2 pods/default/c        a later part of a request that takes several turns
    answer to alpha bind pods/default/c  it has taken effect, and its caller is not told
    delivery of pods/default/d to beta   one Change of one watch
    feed of pods to api-2                the next Change that server's cursor reads
    wake of alpha flush                  a timer, by the name given to `sleep`
    start of beta                        a program, or one task of it: `start of beta/binder`
    turn of alpha/loop                   a task of an actor goes on

Names are globs. `alpha` is any task of it, `alpha/loop` one. `#2` means the second of what the
pattern says since that actor's last start; without a number it is the first, but of a feed every
one: that cursor stands still. `#*` is every one of whatever it is.
`alpha@2` is its second life, the one after its first restart; without that it is any.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import attrs

from testbed.turns.option import ANSWER, DELIVER, FEED, RESUME, SERVE, START, WAKE, Option
from testbed.words import spoken

EVERY = 0
"""The number of a Pattern that means every one."""
_FORMS = {
    ANSWER: re.compile(r"answer to (?P<who>\S+) (?P<verb>\S+) (?P<key>\S+)"),
    DELIVER: re.compile(r"delivery of (?P<key>\S+) to (?P<who>\S+)"),
    FEED: re.compile(r"feed of (?P<key>\S+) to (?P<who>\S+)"),
    WAKE: re.compile(r"wake of (?P<who>\S+) (?P<verb>\S.*)"),
    START: re.compile(r"start of (?P<who>\S+)"),
    RESUME: re.compile(r"turn of (?P<who>\S+)"),
    # No verb is `of` or `to`: those are another form, cut short.
    SERVE: re.compile(r"(?P<who>\S+) (?!of |to )(?P<verb>\S+) (?P<key>\S+)"),
}
FORMS = (
    "`alpha bind pods/default/c`, `alpha create.2 pods/default/c`, "
    "`answer to alpha bind pods/default/c`, `delivery of pods/default/c to alpha`, "
    "`feed of pods to api-2`, `wake of alpha flush`, `start of alpha`, `turn of alpha/loop`"
)
_NTH = re.compile(r"#([1-9][0-9]{0,5}|\*)$")
_NTH_SENT = re.compile(r"#([1-9][0-9]{0,5}|\*)(?= to )")
"""Of what is sent to somebody the number stands on what is sent."""
_LIFE = re.compile(r"@([1-9][0-9]{0,5})(?=$|/)")


@attrs.frozen
class Pattern:
    """One sentence of a race file about an Option."""

    kind: str
    who: str
    """An actor or an Endpoint, or a task of it."""
    verb: str = ""
    """What is asked, as people say it (`bind`); of a wake the timer's name."""
    key: str = ""
    nth: int = 1
    """Which of them; EVERY for all."""
    life: int = 0
    """In which life of its actor; 0: in any."""

    def fits(self, option: Option) -> bool:
        """Whether it speaks of that Option, whichever of them it is."""
        if option.kind != self.kind or not self._is_whose(option):
            return False
        if self.kind in (SERVE, ANSWER):
            return any(
                fnmatchcase(verb, self.verb) and fnmatchcase(key, self.key)
                for verb, key in said_of(option)
            )
        if self.kind == WAKE:
            return fnmatchcase(option.verb, self.verb)
        return not self.key or fnmatchcase(option.key, self.key)

    def _is_whose(self, option: Option) -> bool:
        if "/" in self.who:
            return fnmatchcase(option.path, self.who)
        if self.kind == START:
            return option.path in (f"{self.who}/main", f"{self.who}/start") or (
                fnmatchcase(option.path, f"{self.who}/main")
            )
        return fnmatchcase(option.path.partition("/")[0], self.who)

    @property
    def _last(self) -> str:
        """The word on which its number stands."""
        return self.key or self.verb or self.who

    @property
    def whose(self) -> str:
        """Who, and in which life."""
        if not self.life:
            return self.who
        actor, slash, task = self.who.partition("/")
        return f"{actor}@{self.life}{slash}{task}"

    def __str__(self) -> str:
        whose = self.whose
        nth = "#*" if self.nth == EVERY else f"#{self.nth}"
        if self.kind == FEED:
            return f"feed of {self.key}{'' if self.nth == EVERY else nth} to {whose}"
        if self.nth == 1 and not _NTH.search(self._last):
            nth = ""
        if self.kind == DELIVER:
            return f"delivery of {self.key}{nth} to {whose}"
        before = {ANSWER: "answer to ", WAKE: "wake of ", START: "start of ", RESUME: "turn of "}
        words = [whose, self.verb, self.key]
        return before.get(self.kind, "") + " ".join(word for word in words if word) + nth


def parse_pattern(text: str) -> Pattern | None:
    """The Pattern a sentence is; None if it is none."""
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


def said_of(option: Option) -> list[tuple[str, str]]:
    """The ways to say what a request or its answer is about: `bind X`, `create X/binding`."""
    verb, dot, part = option.verb.partition(".")
    verb, _, subresource = verb.partition("/")
    end = dot + part
    ways = [(spoken(verb, subresource) + end, option.key)]
    if subresource:
        ways.append((verb + end, f"{option.key}/{subresource}"))
    return ways


def pattern_of(option: Option, *, by_task: bool, nth: int) -> Pattern | None:
    """What a race file says of that Option; None of a fault or a pick."""
    who = option.path if by_task else option.path.partition("/")[0]
    if option.kind in (SERVE, ANSWER):
        verb, key = said_of(option)[-1]
        if "/" not in (word := said_of(option)[0][0]):
            verb, key = word, option.key
        return Pattern(option.kind, who, verb, key, nth)
    if option.kind in (DELIVER, FEED):
        return Pattern(option.kind, who, "", option.key, nth)
    if option.kind == WAKE:
        return Pattern(WAKE, who, option.verb, "", nth)
    if option.kind == START:
        is_whole = option.path.endswith(("/main", "/start"))
        return Pattern(START, option.path.rpartition("/")[0] if is_whole else option.path, nth=nth)
    if option.kind == RESUME:
        return Pattern(RESUME, option.path, nth=nth)
    return None
