"""Explain: a kept Trace as a story: who knew what, what changed it, who acted on old news."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import attrs

from testbed.story.cause import Cause
from testbed.story.diagram import WIDTH_MAX, Rows, diagram
from testbed.story.mermaid import sequence
from testbed.story.sentences import Sentences
from testbed.story.slice import Slice
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict, Violation
from testbed.version import VERSION

LINES_MAX = 100
"""The most lines of a Markdown story, unless its race file alone is longer."""


def story(trace: Trace, verdict: Verdict | None = None, claim: str = "") -> str:
    """By which setting, if the guard sets that otherwise; the cause in one sentence; the Run as a
    diagram with a column for each actor; and a few sentences. If several claims broke, it tells of
    `claim`, or else of the first."""
    tale, rows = _tale_and_rows(trace, verdict, claim)
    setting = _wrapped(tale.cause.setting) if tale.cause is not None else ""
    cause = _wrapped(tale.cause.text) if tale.cause is not None else ""
    sentences = "\n".join(_wrapped(text) for text in tale.sentences)
    return "\n\n".join(part for part in (setting, cause, diagram(rows), sentences) if part)


def explained(trace: Trace, verdict: Verdict | None = None, claim: str = "") -> dict[str, Any]:
    """The same as data: the cause; the sentences, each with the Steps it speaks of; the diagram."""
    tale, rows = _tale_and_rows(trace, verdict, claim)
    sentences = [
        {"said": beat.text, "steps": sorted(beat.steps or (beat.step,))} for beat in tale.beats
    ]
    cause = _as_dict(tale.cause) if tale.cause is not None else None
    return {"cause": cause, "sentences": sentences, "diagram": diagram(rows).splitlines()}


@attrs.frozen
class Issue:
    """What an issue says beside the story."""

    race_text: str = ""
    """The race file."""
    again: str = ""
    """The command that plays it again."""
    claim: str = ""
    """The claim it is about; empty: the first that broke."""
    needed: tuple[str, ...] = ()
    """What was found of each line of the race."""
    beside: tuple[str, ...] = ()
    """The verdict of the calm run, and its writes beside those of this Run."""


def explain_md(trace: Trace, verdict: Verdict, issue: Issue | None = None) -> str:
    """The same as Markdown, ready for an issue: a title, the cause, a sequence diagram, the
    sentences, what is needed, the calm run, the verdict with the versions, the race file folded
    away, and the command to play it again. It has at most 100 lines, unless the race file is very
    long or very much failed: what was held back, struck or refused is never folded away."""
    issue = issue or Issue()
    tale, rows = _tale_and_rows(trace, verdict, issue.claim)
    scenario = str(trace.header.get("scenario", ""))
    violation = told_of(verdict, issue.claim)
    broken = violation.invariant if violation is not None else verdict.outcome
    head = [f"# {_plain(scenario)}: {_plain(broken)}", ""]
    if tale.cause is not None:
        head += [each for text in (tale.cause.setting, tale.cause.text) if text
                 for each in (_plain(text), "")]  # fmt: skip
    said = [f"- {_plain(text)}" for text in tale.sentences]
    tail = [*said, ""] if said else []
    if issue.needed:
        tail += [_plain(issue.needed[0]), "", *map(_listed, issue.needed[1:]), ""]
    if issue.beside:
        calm, writes = issue.beside
        tail += [f"The calm run: {_plain(calm)}", "", "```text", *writes.splitlines(), "```", ""]
    tail += [_plain(str(verdict)), "", f"Played by {_plain(versions_of(trace))}.", ""]
    if issue.race_text:
        fence = _fence(issue.race_text)
        race = issue.race_text.rstrip("\n").splitlines()
        tail += ["<details><summary>The race file</summary>", "", f"{fence}yaml", *race, fence]
        tail += ["", "</details>", ""]
    if issue.again:
        fence = _fence(issue.again)
        tail += ["Play it again:", "", fence, issue.again, fence]
    drawn = sequence(rows, LINES_MAX - len(head) - len(tail) - 2)
    return "\n".join([*head, *drawn, *([""] if drawn else []), *tail]).rstrip("\n") + "\n"


def _listed(line: str) -> str:
    """A line below a heading as an item of a list; a sentence as it is."""
    return f"- {_plain(line)}" if line.startswith(" ") else _plain(line)


def versions_of(trace: Trace) -> str:
    """The testbed's version, and the profile of each component."""
    in_force = trace.header.get("in_force", {})
    profiles = [
        f"{name.partition('.profile')[0]} {value}"
        for name, value in in_force.items()
        if name.endswith(".profile")
    ]
    by = f"testbed {trace.header.get('testbed', VERSION)}"
    return f"{by}; profiles: {', '.join(profiles)}" if profiles else by


def _as_dict(cause: Cause) -> dict[str, Any]:
    since = cause.since
    return {
        "shape": cause.shape.value,
        "said": cause.text,
        "setting": cause.setting,
        "actor": cause.actor,
        "did": cause.did,
        "step": cause.step,
        "since": since
        and {
            "actor": since.actor,
            "did": f"{since.word} {since.key}",
            "revision": since.revision,
            "step": since.step,
        },
    }


def told_of(verdict: Verdict | None, claim: str = "") -> Violation | None:
    """The Violation that a story tells of: the first of that claim, or else the first."""
    violations = verdict.violations if verdict is not None else ()
    of_claim = [violation for violation in violations if violation.invariant == claim]
    return next(iter([*of_claim, *violations]), None)


def _tale_and_rows(
    trace: Trace, verdict: Verdict | None, claim: str = ""
) -> tuple[Sentences, Rows]:
    violation = told_of(verdict, claim)
    slice_ = Slice(trace, violation)
    tale = Sentences(slice_)
    return tale, Rows(trace, slice_, tale)


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, WIDTH_MAX, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _plain(text: str) -> str:
    """The text as one line of Markdown, with nothing in it taken for markup."""
    return re.sub(r"([\\`*_<>\[\]#|])", r"\\\1", " ".join(text.split()))


def _fence(text: str) -> str:
    """A code fence longer than any within the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)
