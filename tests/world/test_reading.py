"""Reading: a name that nothing has is refused, with the line that says it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from stage import Puppet, note

from testbed import World, always, confluent, no_lasso, quiescent
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.errors import HarnessError, ScenarioError, UnknownName
from testbed.invariant import Evidence, Invariant
from testbed.world.scenario import of


def fine(see: Evidence) -> str | None:
    """Is well."""
    return None


async def idle(client: Client) -> None:
    """Do nothing."""


def played(key: str, maker: str = "quiescent") -> None:
    """Play a World with a claim that declares to read that."""
    makers: dict[str, Callable[[], Invariant]] = {
        "quiescent": lambda: quiescent(fine, reads=(key,)),
        "always": lambda: always(fine, reads=(key,)),
        "confluent": lambda: confluent(seen_as=lambda _: 0, reads=(key,)),
        "no_lasso": lambda: no_lasso(reads=("log:notes", key)),
    }

    def build(world: World) -> None:
        world.add(note("n"))
        world.start(Puppet("alpha", idle), Puppet("beta", idle))
        world.claim(makers[maker]())

    of(build).world().run(Calm(), driver="direct")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("log:pod", "kind that the claim fine could read: 'pod'. Did you mean 'pods'?"),
        ("log:pods.sepc", "could read: 'pods.sepc'. Did you mean 'pods.spec'?"),
        ("pods", "reads 'pods', which is no key: expected `log:pods`"),
        ("record", "could read: 'record'. Did you mean 'records'?"),
        ("life:alhpa", "actor that the claim fine could read: 'alhpa'. Did you mean 'alpha'?"),
        ("cache:gamma/pods", "Known: alpha, beta."),
        ("mem:bet", "Did you mean 'beta'?"),
        ("note/default/n", "could read: 'note'. Did you mean 'notes'?"),
    ],
)
def test_what_nothing_has_is_refused(key: str, said: str) -> None:
    """With this file and the line of the claim, what is known, and the nearest of it."""
    with pytest.raises((UnknownName, ScenarioError)) as refused:
        played(key)
    text = str(refused.value)
    assert text.startswith(f"{__file__}, line ")
    assert said in text
    assert "\nNext: say `log:pods`" in text


@pytest.mark.parametrize("maker", ["quiescent", "always", "confluent", "no_lasso"])
def test_every_claim_that_declares_is_checked(maker: str) -> None:
    """Whoever makes it."""
    with pytest.raises(HarnessError, match=r"test_reading.py, line \d+: there is no kind"):
        played("log:nodse", maker)
    played("log:nodes", maker)


@pytest.mark.parametrize(
    "key",
    ["log:", "log:pods", "log:pods.spec.node_name", "records", "deaths", "life:alpha",
     "cache:beta/pods", "notes/default/never", "history", "endpoint:store", "log:notes.data.x"],
)  # fmt: skip
def test_what_there_is_is_taken(key: str) -> None:
    """Every form of key that a claim may declare."""
    played(key)


def test_an_actor_that_is_left_out_may_be_named() -> None:
    """A shrink leaves it out; the claim still says its name."""

    def build(world: World) -> None:
        world.start(Puppet("alpha", idle), Puppet("beta", idle))
        world.claim(quiescent(fine, reads=("life:beta",)))

    assert of(build).world(without=["beta"]).run(Calm(), driver="direct").is_held
