"""Renaming: two moments are alike if a renaming of what was created anew makes them equal."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from actors.apiserver import ApiServer
from testbed.choosers.calm import Calm
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.invariant import Evidence
from testbed.invariants.lasso.likeness import Likeness
from testbed.invariants.lasso.no_lasso import no_lasso
from testbed.invariants.lasso.renaming import Mark, Renaming
from testbed.objects.meta import Map, Meta, Revision
from testbed.objects.note import Note
from testbed.turns.verdict import Verdict
from testbed.world.scenario import of
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Puppet

STOPS_AFTER = 30
"""More laps than any proof takes."""


def made(name: str, *, is_given: bool = True, **data: str) -> Note:
    """A Note with a name that a server has given it, or a person."""
    prefix = f"{name.rpartition('-')[0]}-" if is_given else ""
    meta = Meta(name, "default", uid=f"uid of {name}", generate_name=prefix)
    return Note(meta, data=Map(data))


def names_of(*notes: Note) -> Renaming:
    """What these are called, created in this order."""
    names = Renaming(["notes"])
    for each in notes:
        names.learn(each, is_new=True)
    return names


def written(value: object, notes: Iterable[Note]) -> dict[str, str]:
    """The digests of a value, when these notes were created."""
    likeness = Likeness({}, names_of(*notes))
    likeness.begin("it")
    likeness.write(value)
    return likeness.digests()


# -- one text -------------------------------------------------------------------------------------


@each_row(
    ("text", "unnamed"),
    [
        ("web-x7k2p", "one of notes"),
        ("notes/default/web-x7k2p", "notes/default/one of notes"),
        ("kubelet/pod-web-x7k2p#2", "kubelet/pod-one of notes#2"),
        ("web-x7k2p-data", "one of notes-data"),
        ("stop web-x7k2p, then web-9h4hq.", "stop one of notes, then one of notes."),
        ("web-x7k2pq", "web-x7k2pq"),
        ("aweb-x7k2p", "aweb-x7k2p"),
        ("web-", "web-"),
        ("web", "web"),
        ("", ""),
    ],
)
def test_a_generated_name_is_found_wherever_it_stands(text: str, unnamed: str) -> None:
    """In the path of a task, in a message, at either end; a part of a word is no name."""
    names = names_of(made("web-x7k2p"), made("web-9h4hq"))
    assert names.unnamed(text) == unnamed
    assert "".join(str(p.value) if isinstance(p, Mark) else p for p in names.parts(text)) == text


def test_what_a_person_has_named_is_found_only_where_it_stands_alone() -> None:
    """Else the label `web-frontend` of a note called `web` would mean nothing either."""
    names = names_of(made("web", is_given=False))
    assert names.unnamed("web") == "one of notes"
    assert names.parts("notes/default/web") == ("notes/default/", Mark("one of notes", "web"))
    assert names.unnamed("web-frontend") == "web-frontend"


def test_a_name_that_means_something_is_left_as_it_is() -> None:
    """Only kinds that were declared are renamed."""
    names = Renaming(["pods"])
    web = made("web-x7k2p")
    names.learn(web, is_new=True)
    assert names.unnamed(web.key) == names.unnamed_key(web.key) == web.key


def test_a_name_is_found_in_a_text_that_was_there_before() -> None:
    """A lease may be called like a note that comes later."""
    names = Renaming(["notes"])
    assert names.unnamed("of web-x7k2p") == "of web-x7k2p"
    names.learn(made("web-9h4hq"), is_new=True)
    assert names.unnamed("of web-x7k2p") == "of web-x7k2p"
    names.learn(made("web-x7k2p"), is_new=True)
    assert names.unnamed("of web-x7k2p") == "of one of notes"


def test_what_is_created_again_is_the_newest() -> None:
    """Whoever had its name before; a change makes it no newer."""
    one, other = made("web-1", is_given=False), made("web-2", is_given=False)
    names = names_of(one, other)
    names.learn(one, is_new=False)
    assert names.number("web-1") < names.number("web-2")
    names.learn(one, is_new=True)
    assert names.number("web-1") > names.number("web-2")


# -- one moment -----------------------------------------------------------------------------------

OLD, NEW = made("web-x7k2p"), made("web-9h4hq")
LATER_OLD, LATER_NEW = made("web-5tq8w"), made("web-z2b4c")


def test_who_is_meant_is_seen() -> None:
    """The older or the newer of two: no renaming makes the one the other."""

    def leads(leader: str) -> dict[str, str]:
        return written(([OLD, NEW], leader), [OLD, NEW])

    assert leads("web-x7k2p") != leads("web-9h4hq")
    assert leads("web-x7k2p") == written(
        ([LATER_OLD, LATER_NEW], "web-5tq8w"), [OLD, NEW, LATER_OLD, LATER_NEW]
    )


def test_who_is_meant_is_seen_within_a_text() -> None:
    """And a key is not the key of another."""

    def waits_for(text: str) -> dict[str, str]:
        return written(([OLD, NEW], text), [OLD, NEW])

    assert waits_for("again notes/default/web-x7k2p") != waits_for("again notes/default/web-9h4hq")
    assert waits_for("notes/default/web-x7k2p") != waits_for("notes/default/web-9h4hq")


@each_row("kind", [frozenset, set, Map])
def test_what_has_no_order_is_written_by_age(kind: type) -> None:
    """Whatever their names are, the older one comes first."""
    notes = [made(f"web-{number * 37 % 100:02}") for number in range(40)]

    def held(*some: Note) -> dict[str, str]:
        texts = [each.meta.name for each in some]
        kept = Map(dict.fromkeys(texts, "")) if kind is Map else kind(texts)
        return written((kept, texts), notes)

    assert held(*notes[:20]) == held(*notes[20:])
    assert held(*notes[:20]) != held(*notes[19::-1])


@attrs.frozen
class Two:
    """Two texts."""

    one: str
    other: str


def test_where_a_text_ends_is_seen() -> None:
    """Cut at its name, a text does not run into the next."""
    one, other = Two("to web-x7k2p", " or so"), Two("to ", "web-x7k2p or so")
    assert written(one, [OLD]) != written(other, [OLD])


def test_labels_that_differ_in_a_name_are_two() -> None:
    """What one task holds is not what the other does."""

    def held(first: int, second: int) -> dict[str, str]:
        likeness = Likeness({}, names_of(OLD, NEW))
        for name, number in (("web-x7k2p", first), ("web-9h4hq", second)):
            likeness.begin(f"task of {name}")
            likeness.write(number)
        return likeness.digests()

    assert len(held(1, 2)) == 2
    assert held(1, 2) != held(2, 1)
    assert all("x7k2p" not in label for label in held(1, 2))


# -- one World ------------------------------------------------------------------------------------


async def replaces(client: Client) -> None:
    """Each lap there is a new note beside two older ones, then the oldest goes. Which of them comes
    first by name is chance."""
    held = [await client.create(Note(Meta(generate_name="web-"))) for _ in range(2)]
    while True:
        for each in held:
            client.spawn(f"tell-{each.meta.name}", tells, client)
        held.append(await client.create(Note(Meta(generate_name="web-"))))
        await client.sleep(100, f"retire {held[0].key}")
        await client.delete(held.pop(0))


async def tells(client: Client) -> None:
    """A task that is named after a note."""
    await client.sleep(50, "tell")


async def counts_what_it_has_seen(client: Client) -> None:
    """The same, but it keeps the names, and stops when there are many."""
    seen: set[str] = set()
    while len(seen) < STOPS_AFTER:
        new = await client.create(Note(Meta(generate_name="web-")))
        seen.add(new.meta.name)
        await client.sleep(100, "pace")
        await client.delete(new)


async def counts_in_a_text(client: Client) -> None:
    """The same, but it counts behind the name."""
    text = "-0"
    while not text.endswith(f"-{STOPS_AFTER}"):
        new = await client.create(Note(Meta(generate_name="web-")))
        text = f"{new.meta.name}-{int(text.rpartition('-')[2]) + 1}"
        await client.sleep(100, "pace")
        await client.delete(new)


async def piles_up(client: Client) -> None:
    """The same, but the old ones stay until there are many: what comes back is only its pace."""
    while len((await client.list(Note)).items) < STOPS_AFTER:
        await client.create(Note(Meta(generate_name="web-")))
        await client.sleep(100, "pace")


async def watches(client: Client) -> None:
    """Holds all of them, in a Cache."""
    Cache(client, Note)
    await client.queue("inbox", idle=True).get()


def creates(see: Evidence) -> object:
    """Whether a note was just created; at other times a value that never recurs."""
    return [each.old for each in see.changes if each.old is None] or see.store.revision


def outcome_of(do: object, named_anew: tuple[str, ...] = ("notes",)) -> Verdict:
    """What the calm run of such a World comes to."""

    def build(world: World) -> None:
        world.serve(ApiServer)
        world.start(Puppet("p", do), Puppet("watcher", watches))  # type: ignore[arg-type]
        world.claim(no_lasso(abstraction=creates, named_anew=named_anew))
        world.limit(turns_max=2_000)

    return of(build).world().run(Calm(), driver="direct")


def test_what_is_replaced_under_generated_names_for_ever_is_proved() -> None:
    """In its first laps: names in a Cache, in tasks, timers and locals, two at once."""
    verdict = outcome_of(replaces)
    assert verdict.is_violated, verdict
    assert verdict.virtual_ms < 1_000
    assert "p deletes one of notes; p creates one of notes" in verdict.violations[0].said
    assert outcome_of(replaces, named_anew=()).outcome == "undecided"


@each_row("do", [counts_what_it_has_seen, counts_in_a_text, piles_up])
def test_what_only_looks_like_it_is_not_proved(do: object) -> None:
    """It ends."""
    verdict = outcome_of(do)
    assert verdict.is_held, verdict


def test_revisions_stay_ranks_beside_names() -> None:
    """What is sorted by the age of names keeps the order of revisions in sight."""
    pairs = [("web-x7k2p", "9"), ("web-9h4hq", "10")]
    later = [("web-5tq8w", "99"), ("web-z2b4c", "100")]
    notes = [OLD, NEW, LATER_OLD, LATER_NEW]
    one, other = ({(n, Revision(rv)) for n, rv in each} for each in (pairs, later))
    assert written(one, notes) == written(other, notes)
