"""Which examples Hypothesis draws: the same ones everywhere, or fresh ones each time."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from hypothesis.strategies import none

FRESH, SAME = "fresh", "same"
"""The profiles. What a test sets for itself comes on top of either."""


def load_profile(markexpr: str) -> str:
    """Load and return the profile for the tests that this `-m` selects.

    The usual run draws the same everywhere, so that it never fails by chance. Long tests draw anew
    each time; what they find is kept as an example, and then the usual run knows it.
    """
    # Hypothesis has another default where it finds that it runs in CI. And neither profile may fail
    # because the machine is slow.
    unhurried: Any = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile(FRESH, derandomize=False, **unhurried)
    settings.register_profile(SAME, derandomize=True, **unhurried)
    name = FRESH if "long" in markexpr and "not long" not in markexpr else SAME
    settings.load_profile(name)
    if name == SAME:
        forget_constants()
    return name


def forget_constants() -> None:
    """Let no draw depend on which modules happen to be loaded.

    Hypothesis mixes constants of the code under test into what it draws, and looks for them among
    the loaded modules. With many workers, these are others each time.
    """
    none = Constants()
    providers._get_local_constants = lambda: none


def draw_once() -> None:
    """Let Hypothesis set up what it keeps for this process.

    With its first draw it registers its random numbers, and warns if nothing seems to refer to
    them. The collector names no object that is frozen as a referrer; so this comes before a freeze.
    """

    @given(none())
    def draw(_: None) -> None:
        """One example, of nothing."""

    draw()
