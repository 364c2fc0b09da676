"""Labels, annotations and data are texts, as in Kubernetes; nothing else is taken for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from testbed.objects import ConfigMap, Map, Meta, Note, Object, Pod

TWO: Any = {"x": 2}


@pytest.mark.parametrize(
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


def test_annotations_of_a_copy_are_a_map() -> None:
    """As labels are: an object never changes."""
    assert isinstance(Pod.of("p").with_meta(annotations={"x": "y"}).meta.annotations, Map)
