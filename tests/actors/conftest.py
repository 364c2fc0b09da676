"""What all tests of this folder are asked beside: what each breach is about is so."""

from __future__ import annotations

from tests.invariants.abouts import _abouts_are_true

__all__ = ["_abouts_are_true"]
