"""What makes an object refuses what is no text, no whole number or no name where one is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from testbed.objects import ConfigMap, Map, Meta, Node, Note, Object, Pod, Quantity
from tests.each_row import each_row

TWO: Any = {"x": 2}


@each_row(
    "make",
    [
        lambda: Note("n").saying(**TWO),
        lambda: Note("n", data=TWO),
        lambda: Note("n", data=Map(TWO)),
        lambda: ConfigMap("n", data=TWO),
        lambda: Pod.of("p", labels=TWO),
        lambda: Pod.of("p", node_selector=TWO),
        lambda: Pod(Meta("p", annotations=TWO)),
        lambda: Pod.of("p").with_meta(labels=TWO),
        lambda: Pod.of("p").with_meta(annotations=TWO),
    ],
)
def test_what_is_no_text_is_refused(make: Callable[[], Object]) -> None:
    """Where it is written, with its name and how to write it."""
    with pytest.raises(TypeError, match=r"x=2: expected a text, such as '2'"):
        make()


WRONG: Any = "100"


@each_row(
    ("make", "said"),
    [
        (lambda: Pod.of("p", cpu_m=WRONG), "'100': expected a whole number, such as 100"),
        (lambda: Pod.of("p", memory=WRONG), "'100': expected a whole number, such as 100"),
        (lambda: Node.of("n", cpu_m=1.5), "1.5: expected a whole number, such as 100"),  # type: ignore[arg-type]
        (lambda: Quantity(True), "True: expected a whole number, such as 100"),
        (lambda: Note(3), "3: expected a name, such as 'shop/web', or a Meta"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_an_object_says_what_it_expects(make: Callable[[], object], said: str) -> None:
    """Rather than an error from deep within."""
    with pytest.raises(TypeError) as refused:
        make()
    assert str(refused.value) == said
