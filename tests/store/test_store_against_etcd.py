"""The Store beside a real etcd: the same operations, the same answers, nothing different.

Each example has a Store of its own and a key prefix of its own in the one etcd, and remembers the
revision etcd was at: from there both count the same, so that every revision is compared exactly.
The prefixes grow, so that "from this key on" meets nothing an earlier example has left.

Two cases are not generated, as in both etcd 3.4 departs from its own rules and the Store does not.
When a compaction stops exactly at a delete, etcd may leave it out of a watch that starts there: it
has dropped the tombstone. And it refuses a transaction that both puts and deletes a key, but
overlooks it if the delete says "from this key on".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from testbed.errors import ApiError, Expired
from testbed.store.change import Entry
from testbed.store.store import Store
from testbed.store.txn import ONWARD, Compare, Delete, Get, Put, end_of
from tests.models.etcd import (
    Etcd,
    Pair,
    Refused,
    Told,
    encoded,
    pairs,
    request,
    revision_of,
)
from tests.needs import needs

KEYS = ("nodes/n", "pods/a", "pods/a/x", "pods/b", "pods/c", "podsa", "notes")
VALUES = ("", "1", "2", "10")
WATCHES_MAX = 2
Operation = Put | Delete | Get


class Rig:
    """The etcd, the number of examples played on it, and of the answers compared so far."""

    def __init__(self, etcd: Etcd) -> None:
        self.etcd = etcd
        self.examples = 0
        self.compared = 0

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how much was compared; every difference is a failed test of its own."""
        failed = [r for r in terminalreporter.getreports("failed") if "against_etcd" in r.nodeid]
        said = "0 differences" if not failed else "the failures above are the differences"
        terminalreporter.write_line(f"etcd: {self.compared} operations compared, {said}")


@pytest.fixture(scope="module")
def rig(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """One etcd for all tests here."""
    with Etcd(needs("etcd"), tmp_path_factory.mktemp("etcd")) as etcd:
        rig = Rig(etcd)
        request.config.pluginmanager.register(rig)
        yield rig


keys = st.sampled_from(KEYS)
values = st.sampled_from(VALUES)
starts = st.sampled_from((*KEYS, "pods/", "pods", "n"))
# How far back a revision lies: a few in the future, most in reach, some compacted.
backs = st.integers(-2, 12)
moments = st.none() | backs
limits = st.sampled_from((None, 1, 2))


@st.composite
def ranges(draw: st.DrawFn) -> tuple[str, str]:
    """A start and an end: a prefix, everything from a key on, or any two keys."""
    start = draw(starts)
    return start, draw(st.sampled_from((end_of(start), ONWARD)) | starts)


# What a condition names: a number is how far back a revision lies, for created and revision.
targets = st.sampled_from(("version", "created", "revision", "value"))
signs = st.sampled_from(("=", "!=", "<", ">"))
compares = st.tuples(keys, targets, signs, st.integers(0, 4), values)
operations = st.lists(
    st.one_of(
        st.builds(Put, keys, values),
        st.builds(Delete, keys),
        ranges().map(lambda r: Delete(*r)),
        st.builds(Get, keys, st.none(), moments),
        st.tuples(ranges(), moments, limits).map(lambda r: Get(*r[0], r[1], r[2])),
    ),
    max_size=4,
)


class Sides(RuleBasedStateMachine):
    """Everything is done on both sides, and every answer compared."""

    rig: Rig

    def __init__(self) -> None:
        super().__init__()
        self.etcd, self.store = self.rig.etcd, Store()
        self.rig.examples += 1
        self.prefix = f"{self.rig.examples:08}/"
        self.ahead = self.etcd.revision() - self.store.revision
        self.watches = 0
        self.agree = True
        # With one revision to itself, it owes nothing to the compactions of earlier examples.
        self.put("pods/a", "1")

    def moment(self, back: int | None) -> int | None:
        """The revision that lies so far back."""
        return None if back is None else max(1, self.store.revision - back)

    def theirs(self, operation: Operation) -> Operation:
        """The operation as etcd has it: under our prefix, at its own revision."""
        key = self.prefix + operation.key
        if isinstance(operation, Put):
            return Put(key, operation.value)
        end = operation.end
        end = self.prefix + end if end is not None and end != ONWARD else end
        if isinstance(operation, Delete):
            return Delete(key, end)
        at = None if operation.at is None else operation.at + self.ahead
        return Get(key, end, at, operation.limit)

    def entry(self, pair: Pair) -> Entry:
        """What etcd keeps, as the Store would."""
        return Entry(
            pair.key.removeprefix(self.prefix), pair.value, pair.created - self.ahead,
            pair.revision - self.ahead, pair.version,
        )  # fmt: skip

    def entries(self, answer: dict[str, Any]) -> list[Entry]:
        """The Entries of an answer of etcd."""
        return [self.entry(pair) for pair in pairs(answer)]

    def compare(self, ours: Callable[[], object], etcds: Callable[[], object]) -> None:
        """Ask both; an error counts as its word."""
        said: list[object] = []
        for ask in (ours, etcds):
            try:
                said.append(ask())
            except (ApiError, Refused) as error:
                said.append(_word(error))
        self.rig.compared += 1
        self.agree = said[0] == said[1]
        assert said[0] == said[1]

    def single(self, operation: Operation, ours: Callable[[], object]) -> None:
        """An operation of its own; the revision after it is compared too."""
        kind, body = request(self.theirs(operation))

        def etcds() -> object:
            answer = self.etcd.ask(kind.replace("delete_range", "deleterange"), **body)
            return self.entries(answer), revision_of(answer) - self.ahead

        self.compare(lambda: (ours(), self.store.revision), etcds)

    @rule(key=keys, value=values)
    def put(self, key: str, value: str) -> None:
        """A put answers what it overwrote, as etcd does."""

        def ours() -> list[Entry]:
            old = self.store.peek(key)
            assert self.store.put(key, value) is self.store.peek(key)
            return [old] if old is not None else []

        self.single(Put(key, value), ours)

    @rule(key=keys)
    def delete(self, key: str) -> None:
        """A delete answers what it removed, if anything."""

        def ours() -> list[Entry]:
            old = self.store.delete(key)
            return [old] if old is not None else []

        self.single(Delete(key), ours)

    @rule(prefix=starts)
    def delete_range(self, prefix: str) -> None:
        """Everything under a prefix goes in one revision."""
        operation = Delete(prefix, end_of(prefix))
        self.single(operation, lambda: list(self.store.txn((), [operation]).answers[0]))

    @rule(key=keys, back=moments)
    def get(self, key: str, back: int | None) -> None:
        """One key, now or earlier."""

        def ours() -> list[Entry]:
            entry = self.store.get(key, self.moment(back))
            return [entry] if entry is not None else []

        self.single(Get(key, None, self.moment(back)), ours)

    @rule(bounds=ranges(), back=moments, limit=limits)
    def between(self, bounds: tuple[str, str], back: int | None, limit: int | None) -> None:
        """A range, now or earlier."""
        operation = Get(*bounds, self.moment(back), limit)
        self.single(operation, lambda: self.store.between(*bounds, operation.at, limit))

    @rule(compares=st.lists(compares, max_size=2), then=operations, otherwise=operations)
    def txn(self, compares: list[Any], then: list[Operation], otherwise: list[Operation]) -> None:
        """A transaction: which list, what each operation found, and the one revision after."""
        conditions = [self.condition(*each) for each in compares]
        lists = [self.dated(then), self.dated(otherwise)]

        def ours() -> object:
            before = {each.key: self.store.peek(each.key) for some in lists for each in some}
            answer = self.store.txn(conditions, *lists)
            chosen = lists[0] if answer.succeeded else lists[1]
            found = [
                [old for old in [before[each.key]] if old] if isinstance(each, Put) else list(some)
                for each, some in zip(chosen, answer.answers, strict=True)
            ]
            return answer.succeeded, found, answer.revision

        def etcds() -> object:
            asked = [
                Compare(self.prefix + each.key, each.target, each.sign, self.held(each))
                for each in conditions
            ]
            answer = self.etcd.txn(asked, *([self.theirs(each) for each in some] for some in lists))
            found = [self.entries(*each.values()) for each in answer.get("responses", [])]
            return answer.get("succeeded", False), found, revision_of(answer) - self.ahead

        self.compare(ours, etcds)

    def condition(self, key: str, target: str, sign: str, number: int, value: str) -> Compare:
        """A Compare; against a revision, one that is near, or 0 as of an absent key."""
        if target == "value":
            return Compare(key, target, sign, value)
        if target == "version":
            return Compare(key, target, sign, number)
        near = max(1, self.store.revision + 1 - number)
        return Compare(key, target, sign, near if number else 0)

    def held(self, compare: Compare) -> object:
        """What etcd is to compare with: revisions are its own, but 0 means absent to both."""
        if compare.target not in ("created", "revision") or not isinstance(compare.value, int):
            return compare.value
        return compare.value and compare.value + self.ahead

    def dated(self, operations: list[Operation]) -> list[Operation]:
        """A Get was drawn with how far back it reads; now it gets the revision.

        Where there is a Put, a Delete of everything from a key on says where everything ends.
        """
        end = "q" if any(isinstance(each, Put) for each in operations) else ONWARD
        dated: list[Operation] = []
        for each in operations:
            if isinstance(each, Get):
                dated.append(Get(each.key, each.end, self.moment(each.at), each.limit))
            elif isinstance(each, Delete) and each.end == ONWARD:
                dated.append(Delete(each.key, end))
            else:
                dated.append(each)
        return dated

    @rule(back=backs)
    def compact(self, back: int) -> None:
        """History is forgotten, or that is refused, on both sides."""
        revision = max(2, self.store.revision - back)
        self.compare(
            lambda: self.store.compact(revision),
            lambda: self.etcd.ask("compaction", revision=str(revision + self.ahead)) and None,
        )

    @precondition(lambda self: self.watches < WATCHES_MAX)
    @rule(prefix=starts, back=st.integers(1, 30), edge=st.none() | st.integers(0, 2))
    def watch(self, prefix: str, back: int, edge: int | None) -> None:
        """A watch from an old revision tells the same Changes, or that they are compacted."""
        self.watches += 1
        # A last write under the prefix, so that the end of the replay is known.
        self.put(prefix, "last")
        compacted = self.store.compacted
        near = self.store.revision - back if edge is None or not compacted else compacted - edge
        since, end = max(1, near), end_of(prefix)
        if self.is_at_a_compacted_delete(since):
            since += 1

        def ours() -> object:
            try:
                changes = self.store.changes(None, since)
            except Expired:
                return self.store.compacted
            return [
                (change.revision, change.key, change.new, self.known(change.revision, change.old))
                for change in changes
                if prefix <= change.key < end
            ]

        def etcds() -> object:
            start = self.prefix + prefix
            until = self.store.revision + self.ahead
            told = self.etcd.watch(start, self.prefix + end, since + self.ahead, until)
            if isinstance(told, int):
                return told - self.ahead
            return [self.change(each) for each in told]

        self.compare(ours, etcds)

    def is_at_a_compacted_delete(self, since: int) -> bool:
        """Whether the first revision watched is the one compacted to, and deleted something."""
        first = self.store.log().changes[0]
        gone = [c for c in self.store.log().changes if c.revision == first.revision and not c.new]
        return since + 1 == self.store.compacted == first.revision and bool(gone)

    def known(self, revision: int, old: Entry | None) -> Entry | None:
        """What was there before, as far as etcd can tell: it reads the revision before."""
        return old if revision - 1 >= self.store.compacted else None

    def change(self, told: Told) -> object:
        """An event of etcd, in our revisions."""
        new = None if told.new is None else self.entry(told.new)
        old = None if told.old is None else self.entry(told.old)
        revision = told.revision - self.ahead
        key = told.key.removeprefix(self.prefix)
        return revision, key, new, self.known(revision, old)

    def teardown(self) -> None:
        """At the end both hold the same, now and at every revision that can still be read."""
        oldest = max(1, self.store.compacted)
        for revision in range(oldest, self.store.revision + 1, 5) if self.agree else ():
            found = self.store.between("n", ONWARD, revision)
            self.single(Get("n", ONWARD, revision), lambda found=found: found)  # type: ignore[misc]


def _word(error: ApiError | Refused) -> str:
    text = str(error)
    words = {"too old": "compacted", "in the future": "future", "duplicate key": "duplicate"}
    return next((word for said, word in words.items() if said in text), text)


def play(rig: Rig, examples: int) -> int:
    """Play this many examples; the number of answers that were compared."""
    before = rig.compared
    run_state_machine_as_test(
        type("SidesOfThisRig", (Sides,), {"rig": rig}),
        settings=settings(
            max_examples=examples,
            stateful_step_count=50,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    return rig.compared - before


@pytest.mark.spec("API-3")
def test_the_store_answers_as_etcd_does(rig: Rig) -> None:
    """Hundreds of operations of every kind, and not one answered differently."""
    assert play(rig, 22) >= 700


@pytest.mark.long
def test_the_store_answers_as_etcd_does_at_length(rig: Rig) -> None:
    """The same with 20,000 operations."""
    assert play(rig, 500) >= 20_000


def test_an_empty_key_is_refused_by_both(rig: Rig) -> None:
    """Etcd has no empty key, and neither has the Store."""
    with pytest.raises(Refused, match="keyless"):
        rig.etcd.ask("put", key="", value=encoded("1"))
    with pytest.raises(ApiError, match="the key is empty"):
        Store().put("", "1")
