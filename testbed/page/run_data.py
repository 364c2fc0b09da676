"""RunData: one Run as the rows, lanes, versions and arrows that a page draws."""

from __future__ import annotations

from typing import Any

from testbed.maps.describing import is_deleted
from testbed.page.arrows import Arrows
from testbed.page.belief_log import BeliefLog
from testbed.page.marking import Marking
from testbed.page.moments import Moments
from testbed.page.truth_log import TruthLog
from testbed.story.diagram import Rows
from testbed.story.explain import told_of
from testbed.story.sentences import Sentences
from testbed.story.slice import Slice
from testbed.turns.found import words_of
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict, Violation

ROWS_MAX = 150


class RunTold:
    """One Run, read: its story, and what is drawn of it."""

    def __init__(self, name: str, trace: Trace, verdict: Verdict, claim: str = "") -> None:
        self._name, self._verdict = name, verdict
        self.violation = told_of(verdict, claim)
        self._slice = slice_ = Slice(trace, self.violation)
        self.tale = tale = Sentences(slice_)
        self._truth = truth = TruthLog(trace, self._named(), slice_.shared)
        self._beliefs = BeliefLog(slice_.knowledge, truth, slice_.requests.ends)
        self._marking = Marking(slice_, Rows(trace, slice_, tale))
        self._marking.note_asked(slice_, truth.steps_in_sight)
        self._steps, self._end = slice_.causality.steps, slice_.end

    def _named(self) -> set[str]:
        """The words of the story: among them the keys of the objects that it names."""
        cause, violation = self.tale.cause, self.violation
        said = [*self.tale.sentences, cause.text if cause is not None else ""]
        said += [violation.said] if violation is not None else []
        return words_of(" ".join(said)) | self._slice.named_keys

    @property
    def sentences(self) -> list[dict[str, Any]]:
        """Its story, sentence by sentence, each with the Steps it speaks of."""
        return [
            {"said": beat.text, "steps": sorted({*(beat.steps or (beat.step,))})}
            for beat in self.tale.beats
        ]

    def data(self, rows_max: int = ROWS_MAX, *, tells: bool = False) -> dict[str, Any]:
        """The Run as a page draws it; if it `tells`, each row says which sentences speak of it."""
        moments = Moments(
            self._steps, self._end, self._marking, self._truth, self._beliefs, rows_max
        )
        if tells:
            self._note_sentences(moments)
        arrows = Arrows(self._slice, self.tale.cause, self._marking, self._truth, moments)
        return {
            "name": self._name,
            "outcome": self._verdict.outcome,
            "claim": self.violation.invariant if self.violation is not None else "",
            "said": said_of(self._verdict, self.violation),
            "lanes": moments.lanes,
            "versions": moments.versions,
            "moments": moments.all,
            "arrows": arrows.all,
            "terminating": self._terminating(moments),
        }

    def _note_sentences(self, moments: Moments) -> None:
        rows = {row["step"]: row for row in moments.all}
        for place, sentence in enumerate(self.sentences):
            for step in sentence["steps"]:
                tells = rows[moments.at_or_after(step)]["tells"]
                if place not in tells:
                    tells.append(place)

    def _terminating(self, moments: Moments) -> list[dict[str, Any]]:
        """From which row to which an object was marked for deletion and was still there."""
        since = {entry.key: 0 for entry in self._truth.start if is_deleted(entry)}
        spans: list[tuple[str, int, int]] = []
        for step, changes in self._truth.changes.items():
            for change in changes if step <= self._end else ():
                if change.key in since and not is_deleted(change.new):
                    spans.append((change.key, since.pop(change.key), step))
                elif is_deleted(change.new):
                    since.setdefault(change.key, step)
        spans += [(key, step, self._end) for key, step in since.items()]
        at = moments.at_or_after
        return [
            {"key": key, "from": at(begins), "to": at(ends)}
            for key, begins, ends in sorted(spans, key=lambda span: (span[1], span[0]))
            if self._truth.is_in_sight(key)
        ]


def said_of(verdict: Verdict, violation: Violation | None) -> str:
    """What a Run has shown, in a sentence."""
    if violation is not None:
        return violation.said
    if verdict.is_held:
        return "No claim was breached."
    return f"It did not come to an end: {verdict.end}."
