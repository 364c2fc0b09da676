"""What a breach is about: said by its claim, or found by the words of its sentence."""

from __future__ import annotations

from testbed import Calm, Client, Evidence, Found, Verdict, eventually, quiescent
from testbed.invariant import Invariant
from testbed.objects import Pod
from testbed.turns.found import DEADLINE, NEVER, TOO_MANY, About, named_in
from tests.each_row import each_row
from tests.shared.stage import note, world_of

KEYS = ("pods/default/web", "deployments/default/web", "pods/default/web-1", "nodes/n1")
ACTORS = ("alpha", "alpha-2", "beta")


@each_row(
    ("text", "keys", "actors"),
    [
        ("pods/default/web waits.", ("pods/default/web",), ()),
        ("web-1 is lost", ("pods/default/web-1",), ()),
        ("web has no room", ("deployments/default/web", "pods/default/web"), ()),
        ("n1 holds web-1, and alpha-2's turn", ("nodes/n1", "pods/default/web-1"), ("alpha-2",)),
        ("beta/main waits for alpha", (), ("beta", "alpha")),
        ("pods/default/gone never was", ("pods/default/gone",), ()),
        ("it asked for pods/default/web-1/binding", ("pods/default/web-1",), ()),
        ("webs, n10, n1-old, alphas: nothing/default/else", (), ()),
    ],
)
def test_a_text_names_whole_words(
    text: str, keys: tuple[str, ...], actors: tuple[str, ...]
) -> None:
    """An object by its key or the end of it, an actor by itself or a task of it, in that order."""
    assert named_in(text, KEYS, ACTORS) == About(keys, (), actors)


def judged(*claims: Invariant) -> Verdict:
    """A Run in which `alpha` writes two Notes and deletes one of them."""

    async def alpha(client: Client) -> None:
        await client.create(note("web"))
        await client.create(note("gone"))
        await client.delete(note("gone"))
        await client.sleep(1_000, "rest")

    world = world_of(alpha=alpha)
    world.claim(*claims)
    return world.run(Calm(), driver="direct")


def test_a_sentence_is_about_what_it_names() -> None:
    """Also about an object that is gone, but not about one that is made after the breach."""

    def says(see: Evidence) -> str | None:
        return "web and gone are alpha's, late is not" if not see.store.peek(GONE) else None

    (breach,) = judged(quiescent(says)).violations
    assert breach.about == About((WEB, GONE), (), "alpha")
    assert (breach.reason, breach.since) == ("", None)


def test_a_claim_says_what_it_is_about() -> None:
    """And nothing is guessed beside it; what is printed is the sentence, as ever."""

    def says(see: Evidence) -> Found:
        web = see.store.peek(WEB)
        assert web is not None
        return Found.of("gone is", web, fields="data.a", reason=TOO_MANY, since=web.revision)

    (breach,) = judged(quiescent(says)).violations
    assert breach.about == About((WEB,), ("data.a",), ())
    assert (breach.reason, breach.since) == (TOO_MANY, 2)
    assert str(breach) == f"says: gone is (step {breach.step}, 1000 ms)"


def test_a_sentence_is_about_the_same_as_the_data_of_it() -> None:
    """A claim that says its objects and one that only names them."""

    def names(see: Evidence) -> str:
        return f"{WEB} is alpha's, and {GONE} was"

    def says(see: Evidence) -> Found:
        return Found.of(names(see), WEB, GONE, actors="alpha")

    by_words, by_data = judged(quiescent(names), quiescent(says)).violations
    assert by_words.about == by_data.about == About((WEB, GONE), (), "alpha")
    assert by_words.said == by_data.said


def test_what_comes_too_late_says_so() -> None:
    """What the function found stays; a kind of breach that it names itself, too."""

    def wrong(see: Evidence) -> Found:
        return Found.of("web is not", WEB)

    def many(see: Evidence) -> Found:
        return Found("two", reason=TOO_MANY)

    (late,) = judged(eventually(wrong, within_ms=10)).violations
    never, own = judged(eventually(lambda see: "web is not"), eventually(many)).violations
    assert (late.said, late.reason) == ("web is not, 10 ms after the last fault", DEADLINE)
    assert late.about == never.about == About(WEB)
    assert (never.said, never.reason, own.reason) == ("web is not", NEVER, TOO_MANY)


def test_objects_stand_for_their_keys() -> None:
    """An object, an Entry or a key; each counts once."""
    pod = Pod.of("web")
    assert About((pod, "nodes/n1", pod.key)).keys == ("pods/default/web", "nodes/n1")
    assert About(pod).keys == About("pods/default/web").keys


WEB, GONE = "notes/default/web", "notes/default/gone"
