"""The pages of actors in docs/ are true: their tables are what the classes say."""

from __future__ import annotations

import inspect

import attrs
import pytest

from actors.autoscaler import Expansion
from actors.cloud import join_cloud
from testbed import Actor
from tests.docs import settings_tables
from tests.docs.settings_tables import DOCS, HEADING, PAGES, classes, rows, written


@pytest.mark.parametrize("page", PAGES)
def test_the_arguments_are_what_the_classes_say(page: str) -> None:
    """Word by word. `.venv/bin/python -m tests.models.api_page` writes them again."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert HEADING in text
    assert written(page) == text, (
        f"docs/{page}.md is old: .venv/bin/python -m tests.models.api_page"
    )


def test_a_table_lists_what_a_user_calls() -> None:
    """A class method that one Python adds to a class and another does not is no way to make it."""

    @attrs.frozen
    class Way(Actor):
        @classmethod
        def of(cls, other: str) -> Way:
            """Makes one."""
            return cls(other)

        @classmethod
        def __subclasshook__(cls, other: type) -> bool:
            return True

    assert list(rows(Way)) == ["`.of(other)` |  | Makes one."]


def test_the_tables_have_every_class_that_users_give() -> None:
    """Actors, commands, and what is given to those; but not what only tests start."""
    names = {cls.__name__ for rooms in PAGES.values() for room in rooms for cls in classes(room)}
    assert names >= {"PodGC", "NodeLifecycle", "Drain", "DrainOptions", "Cue", "WorkloadStream"}
    assert names >= {"YuniKornShim", "QueueSettings"}
    assert names >= {"Kubelet", "EvictionSettings", "Threshold", "Workload", "DeschedulerPolicy"}
    assert not names & {"NodeOwner", "Command", "Actor", "Tenants"}


@pytest.mark.parametrize(
    "names",
    [
        [*inspect.signature(join_cloud).parameters][2:],
        [field.name for field in attrs.fields(Expansion)],
    ],
)
def test_the_page_of_the_autoscaler_has_a_row_for_each(names: list[str]) -> None:
    """What `join_cloud` takes after the groups, and what an Expansion has."""
    text = (DOCS / "autoscaler.md").read_text(encoding="utf-8")
    assert names
    assert [name for name in names if f"\n| `{name}` | " not in text] == []


def test_an_argument_that_is_not_told_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables are made of the strings beneath the fields."""
    monkeypatch.setattr(settings_tables, "fields_told", lambda cls: {})
    with pytest.raises(KeyError):
        written("kubelet")
