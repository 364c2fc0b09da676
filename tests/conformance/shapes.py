"""Shapes: all kinds of recorded cases. A new one is a file of its own and a line here."""

from __future__ import annotations

from tests.conformance.autoscale.shape import Autoscale
from tests.conformance.kubelet.admit import Admit
from tests.conformance.kubelet.evict import Evict
from tests.conformance.preempt import Preempt
from tests.conformance.shape import Line, Shape
from tests.conformance.timeline import FirstQueue, OneSlot, Timeline

SHAPES: tuple[Shape, ...] = (
    Preempt(), Timeline(), OneSlot(), FirstQueue(), Admit(), Evict(),
    Autoscale(),
)  # fmt: skip


def shape_of(line: Line) -> Shape | None:
    """The kind of a line by its fields, or None."""
    return next((shape for shape in SHAPES if shape.fits(line)), None)
