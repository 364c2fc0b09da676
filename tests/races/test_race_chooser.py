"""Raced: each kind of hold, fault and pick does what its line says, to what, and when."""

from __future__ import annotations

import re

from testbed.races.playing import Played, play
from testbed.races.race_chooser import Fate
from testbed.races.racefile import parse
from testbed.turns.option import ANSWER, DELIVER, FAULT, FEED, PICK, SERVE, START, WAKE
from tests.each_row import each_row
from tests.shared.busy import BUSY, LATE

NOTE = "notes/default/n"


def race(text: str) -> Played:
    """A race of these lines."""
    return play(parse("scenario: busy\n" + text, "a.race.yaml"), BUSY)


def held(what: str, until: str) -> Played:
    """A race of one hold."""
    return race(f"holds:\n  - hold: {what}\n    until: {until}\n")


def struck(line: str, *more: str) -> Played:
    """A race of one fault."""
    return race("\n    ".join([f"faults:\n  - {line}", *more]) + "\n")


def moments(played: Played, *kinds: str) -> list[str]:
    """The turns of these kinds, in order, with their times."""
    return [f"{step.now_ms} {step.sentence}" for step in played.trace.steps if step.kind in kinds]


def only(played: Played) -> Fate:
    """What became of the one line."""
    (fate,) = played.fates
    return fate


def is_before(played: Played, one: str, other: str) -> bool:
    """Whether the one sentence comes before the other in the trace."""
    said = [
        str(step.sentence) for step in played.trace.steps if step.kind not in ("hold", "release")
    ]
    return said.index(one) < said.index(other)


ALPHA_UPDATES = f"serve alpha/main update {NOTE}"
BETA_UPDATES = f"serve beta/main update {NOTE}"


# -- holds ----------------------------------------------------------------------------------------


def test_the_calm_run_is_a_race_without_lines() -> None:
    """Alpha first, then beta; the helpers after a hundred milliseconds."""
    played = race("")
    assert played.fates == ()
    assert is_before(played, ALPHA_UPDATES, BETA_UPDATES)
    assert played.verdict.is_held


def test_a_request_is_held_until_an_operation_has_taken_effect() -> None:
    """It has no effect before; it comes right after."""
    played = held(f"alpha update {NOTE}", f"beta update {NOTE}")
    serves = moments(played, SERVE)
    place = serves.index(f"0 {BETA_UPDATES}")
    assert serves[place + 1] == f"0 {ALPHA_UPDATES}"
    assert only(played).took_place
    assert not only(played).expired


def test_an_answer_is_held_after_the_effect() -> None:
    """The update is done; who asked for it is told later."""
    played = held(f"answer to alpha update {NOTE}", f"beta update {NOTE}")
    assert is_before(played, ALPHA_UPDATES, BETA_UPDATES)
    assert is_before(played, BETA_UPDATES, f"answer alpha/main update {NOTE}")


def test_a_hold_until_an_answer_ends_when_that_was_given() -> None:
    """Not when the operation took effect."""
    played = held(f"alpha update {NOTE}", f"answer to beta update {NOTE}")
    assert is_before(played, f"answer beta/main update {NOTE}", ALPHA_UPDATES)


def test_a_hold_ends_after_a_virtual_duration() -> None:
    """Counted from when it would have happened; the world goes on meanwhile."""
    played = held(f"alpha update {NOTE}", "700ms")
    assert f"700 {ALPHA_UPDATES}" in moments(played, SERVE)
    assert only(played).took_place


def test_the_second_of_a_name_is_held_and_not_the_first() -> None:
    """The number counts what that actor asks for, by any task: the helper's is the second."""
    played = held(f"alpha update {NOTE}#2", "50ms")
    serves = moments(played, SERVE)
    assert f"0 {ALPHA_UPDATES}" in serves
    assert f"150 serve alpha/helper update {NOTE}" in serves
    played = held(f"alpha/main update {NOTE}#2", "50ms")
    assert f"550 {ALPHA_UPDATES}#2" in moments(played, SERVE)


def test_every_one_of_a_name_is_held() -> None:
    """Each as long as the line says."""
    played = held(f"alpha update {NOTE}#*", "50ms")
    times = [
        said.partition(" ")[0]
        for said in moments(played, SERVE)
        if " alpha/" in said and "update" in said
    ]
    assert times == ["50", "150", "600"]
    assert only(played).times == 3


def test_one_change_to_one_watcher_is_held() -> None:
    """The second update of the note is late, and the third waits behind it: watches keep order."""
    played = held(f"delivery of {NOTE}#2 to aide", "300ms")
    heard = moments(played, DELIVER)
    assert heard[0].startswith("0 ")
    assert heard[1].startswith("300 ")
    assert "#2" in only(played).matched


def test_a_change_of_one_type_is_held() -> None:
    """It is counted among those of its type, and one of another type is not there."""
    played = held(f"delivery of MODIFIED {NOTE}#2 to aide", "300ms")
    assert [line.partition(" ")[0] for line in moments(played, DELIVER)][:2] == ["0", "300"]
    assert not only(held(f"delivery of DELETED {NOTE} to aide", "300ms")).matched


def test_a_timer_is_held_by_its_name() -> None:
    """Later, never earlier."""
    played = held("wake of alpha nap", "200ms")
    assert "700 wake alpha/main nap" in moments(played, WAKE)


def test_a_start_is_held() -> None:
    """Of a program, and of one task of it."""
    played = held("start of alpha", f"beta update {NOTE}")
    assert is_before(played, BETA_UPDATES, "start alpha/main")
    played = held("start of alpha/helper", "50ms")
    assert "50 start alpha/helper" in moments(played, START)


def test_a_task_is_held_within_its_actor() -> None:
    """It waits for another task of its own, and goes on when that line says."""
    played = held("turn of alpha/main", "2s")
    assert only(played).matched == "turn of alpha/main"
    assert [r.now_ms for r in played.world.table.records if r.name == "over"] == [1000, 3000]


def test_a_feed_is_held_and_the_cursor_stands_still() -> None:
    """Of a server that lags behind the history: what it has not read, no watcher is told."""
    text = (
        f"scenario: late\nholds:\n  - hold: feed of notes to store\n    until: beta update {NOTE}\n"
    )
    played = play(parse(text, "a.race.yaml"), LATE)
    said = [str(step.sentence) for step in played.trace.steps if step.kind in (SERVE, FEED)]
    fed = [place for place, sentence in enumerate(said) if sentence.startswith("feed")]
    assert fed[0] > said.index(BETA_UPDATES)
    assert only(played).matched == "feed of notes#1 to store/feed-notes"


def test_a_hold_until_an_actor_is_down_or_up() -> None:
    """Beta crashes, so alpha may write; beta is up again, so the answer comes."""
    played = race(
        f"holds:\n  - hold: alpha update {NOTE}#2\n    until: beta is down\n"
        f"  - hold: answer to alpha update {NOTE}#2\n    until: beta is up\n"
        f"faults:\n  - crash: beta\n    at: 400ms\n    restart: 300ms\n"
    )
    assert f"400 serve alpha/helper update {NOTE}" in moments(played, SERVE)
    assert f"700 answer alpha/helper update {NOTE}" in moments(played, ANSWER)
    assert all(fate.took_place and not fate.expired for fate in played.fates)


def test_a_hold_until_quiet_ends_when_nothing_else_can_move() -> None:
    """Timers that are to come are something else."""
    played = held(f"alpha update {NOTE}", "quiet")
    assert moments(played, SERVE)[-1] != ""
    said = [str(step.sentence) for step in played.trace.steps if step.kind == SERVE]
    rest = said[said.index(ALPHA_UPDATES) + 1 :]
    assert all("beta" not in sentence for sentence in rest)


def test_a_hold_expires_if_nothing_else_can_move() -> None:
    """What it waits for never comes, and that is told."""
    played = held(f"alpha update {NOTE}", "gamma get notes/default/n")
    assert only(played).took_place
    assert only(played).expired
    assert played.verdict.is_held


def test_a_hold_whose_end_has_come_already_holds_nothing() -> None:
    """It has matched, and made no difference."""
    played = held(f"beta update {NOTE}", f"alpha update {NOTE}")
    fate = only(played)
    assert (fate.matched, fate.times) == (f"beta/main update {NOTE}", 0)


def test_two_lines_for_one_name_hold_it_one_after_the_other() -> None:
    """The second begins when the first has ended."""
    played = race(
        f"holds:\n  - hold: alpha update {NOTE}\n    until: beta get {NOTE}\n"
        f"  - hold: alpha update {NOTE}\n    until: 300ms\n"
    )
    assert [fate.matched for fate in played.fates] == [f"alpha/main update {NOTE}", ""]
    assert is_before(played, f"serve beta/main get {NOTE}", ALPHA_UPDATES)


# -- what matched nothing -------------------------------------------------------------------------


@each_row(
    ("said", "closest"),
    [
        ("alpha update notes/default/m", f"alpha update {NOTE}"),
        (f"alpha update {NOTE}#9", f"alpha update {NOTE}"),
        (f"delivery of {NOTE}#7 to aide", f"delivery of {NOTE} to aide"),
        ("wake of alpha nope", "wake of alpha nap"),
        ("zzz zzz zzz", ""),
    ],
)
def test_a_line_that_matched_nothing_is_told_what_came_closest(said: str, closest: str) -> None:
    """Of all that came up, as a race file would say it."""
    played = held(said, "quiet")
    fate = only(played)
    assert (fate.matched, fate.times) == ("", 0)
    found = played.closest(fate)
    assert re.sub("#[0-9]", "", found) == closest


def test_what_came_up_is_said_as_a_race_file_says_it() -> None:
    """With its number where it belongs; each can be pasted behind `hold`."""
    played = race("")
    assert f"delivery of {NOTE}#2 to aide" in played.seen
    assert f"alpha update {NOTE}#2" in played.seen
    assert "alpha mood" in played.seen


def test_a_fault_that_never_struck_matched_nothing() -> None:
    """Its moment never came, or there was nobody to strike."""
    assert only(struck("crash: alpha", "after: gamma get notes/default/n")).matched == ""
    assert only(struck("crash: gamma", "at: 100ms")).matched == ""
    assert only(struck("crash: alpha", "at: 1h")).matched == ""


# -- faults ---------------------------------------------------------------------------------------


def crash_time(played: Played) -> list[str]:
    """When which faults struck."""
    return [
        f"{step.now_ms} {step.option.verb} {step.option.key}"
        for step in played.trace.steps
        if step.kind == FAULT
    ]


def before_fault(played: Played) -> str:
    """The turn right before the fault, and the one after."""
    steps = [step for step in played.trace.steps if step.kind not in ("hold", "release", "pass")]
    place = next(n for n, step in enumerate(steps) if step.kind == FAULT)
    return f"{steps[place - 1].sentence} | {steps[place + 1].sentence}"


def test_a_crash_strikes_after_an_operation() -> None:
    """It has taken effect, and its caller is never told."""
    played = struck("crash: alpha", f"after: alpha update {NOTE}")
    assert before_fault(played).startswith(f"{ALPHA_UPDATES} | ")
    assert f"answer alpha/main update {NOTE}" not in str(moments(played, ANSWER))


def test_a_crash_strikes_before_an_operation() -> None:
    """It is announced, and about to take effect; it may, though nobody hears of it."""
    played = struck("crash: alpha", f"before: alpha update {NOTE}")
    assert before_fault(played).startswith(f"answer alpha/main get {NOTE} | ")


def test_a_crash_strikes_at_a_virtual_time() -> None:
    """Also when nothing else happens then."""
    assert crash_time(struck("crash: alpha", "at: 333ms")) == ["333 crash alpha"]


def test_a_crashed_actor_is_back_when_the_line_says() -> None:
    """`restart:`; without it, never. Its numbers begin anew."""
    played = race(
        f"holds:\n  - hold: alpha@2 update {NOTE}\n    until: 10ms\n"
        f"faults:\n  - crash: alpha\n    at: 50ms\n    restart: 500ms\n"
    )
    assert "550 start alpha/main#2" in moments(played, START)
    assert f"560 {ALPHA_UPDATES}" in moments(played, SERVE)
    assert len(moments(struck("crash: alpha", "at: 50ms"), START)) < len(moments(played, START))


def test_the_reply_to_the_second_request_is_lost() -> None:
    """Of two of one name, by the actor's count: the helper's. It is an answer, too."""
    played = struck(f"lose_reply: alpha update {NOTE}#2")
    assert crash_time(played) == [f"100 lose_reply alpha/helper update {NOTE}"]
    (record,) = [r for r in played.world.table.records if r.name == "failed"]
    assert (record.path, record.facts["is_unclear"]) == ("alpha/helper", True)


def test_the_reply_of_one_task_is_lost() -> None:
    """By the task's name and count."""
    played = struck(f"lose_reply: alpha/main update {NOTE}#2")
    assert crash_time(played) == [f"500 lose_reply alpha update {NOTE}#2"]


def test_a_request_is_lost_and_the_next_of_its_name_is_the_second() -> None:
    """What was lost has come up by that, so that its retry is another one."""
    played = struck(f"lose_request: alpha update {NOTE}")
    assert crash_time(played) == [f"0 lose_request alpha update {NOTE}"]
    assert f"0 {ALPHA_UPDATES}" not in moments(played, SERVE)
    again = race(
        f"holds:\n  - hold: alpha update {NOTE}#2\n    until: 70ms\n"
        f"faults:\n  - lose_request: alpha update {NOTE}\n"
    )
    assert f"170 serve alpha/helper update {NOTE}" in moments(again, SERVE)


def test_a_lost_reply_that_is_late_is_told_late() -> None:
    """It is an answer, never silence; so it can be held."""
    played = race(
        f"holds:\n  - hold: answer to alpha update {NOTE}\n    until: 10s\n"
        f"faults:\n  - lose_reply: alpha update {NOTE}\n"
    )
    assert f"10000 answer alpha/main update {NOTE}" in moments(played, ANSWER)
    assert [r.now_ms for r in played.world.table.records if r.name == "failed"] == [10_000]


def test_a_fault_strikes_so_many_times() -> None:
    """`times: n`; once without it."""
    many = struck(f'server_error: "* update {NOTE}#*"', "code: 429", "times: 3")
    assert len(crash_time(many)) == 3
    assert only(many).times == 3
    reasons = [r.facts["reason"] for r in many.world.table.records if r.name == "failed"]
    assert reasons == ["TooManyRequests"] * 3
    assert len(crash_time(struck(f'server_error: "* update {NOTE}#*"'))) == 1


def test_a_fault_strikes_whenever_it_can_until_a_time() -> None:
    """`until:` is a virtual time; that instant is not within it."""
    played = struck(f'lose_reply: "* update {NOTE}#*"', "until: 500ms")
    assert {said.split()[0] for said in crash_time(played)} == {"0", "100"}
    assert only(played).times == 4


def test_a_watch_is_broken() -> None:
    """And resumed, so nothing is lost."""
    played = struck("break_watch: notes to aide", f"after: alpha update {NOTE}")
    assert [said.split(" ", 1)[1] for said in crash_time(played)] == ["break_watch notes to aide"]
    assert played.verdict.is_held


def test_a_lag_makes_changes_late_until_a_time() -> None:
    """By so much, what is committed before then."""
    played = struck("lag: notes to aide", f"after: alpha get {NOTE}", "by: 500ms", "until: 50ms")
    times = [said.partition(" ")[0] for said in moments(played, DELIVER)]
    assert times[0] == "500"
    assert "500" in times[1:]


def test_a_stall_keeps_an_actor_from_moving() -> None:
    """For a while, or until a time; what it has sent goes on."""
    by = struck("stall: alpha", f"after: alpha get {NOTE}", "by: 250ms")
    assert f"250 {ALPHA_UPDATES}" in moments(by, SERVE)
    until = struck("stall: alpha", "at: 150ms", "until: 1500ms")
    assert "1500 wake alpha/main nap" in moments(until, WAKE)


# -- picks ----------------------------------------------------------------------------------------


def test_a_pick_takes_the_alternative_that_is_named() -> None:
    """The first of that label, or the one of a number, or of a task."""
    played = race("picks:\n  - alpha/main mood#2: glad\n  - alpha/helper mood: grim\n")
    picked = [
        f"{step.option.path} {step.option.label}"
        for step in played.trace.steps
        if step.kind == PICK
    ]
    assert [said for said in picked if said.startswith("alpha")] == [
        "alpha/main calm", "alpha/helper grim", "alpha/main glad",
    ]  # fmt: skip
    assert [fate.times for fate in played.fates] == [1, 1]


def test_a_pick_of_what_is_not_offered_matched_nothing() -> None:
    """Nobody is grim in the main task; the closest is told."""
    played = race("picks:\n  - alpha/main mood: grim\n")
    assert only(played).matched == ""
    assert played.closest(only(played)) == "alpha mood"


def test_a_pick_of_a_life_is_that_lifes() -> None:
    """The second begins to count anew."""
    played = race(
        "faults:\n  - crash: alpha\n    at: 50ms\n    restart: 10ms\n"
        "picks:\n  - alpha@2/main mood: glad\n"
    )
    picked = [step.option for step in played.trace.steps if step.kind == PICK]
    moods = [option.label for option in picked if option.path == "alpha/main"]
    assert moods == ["calm", "glad", "calm"]


def test_a_line_that_leaves_out_the_task_knows_whose_it_could_be() -> None:
    """Its main task and its helper both update the note; with the task there is no question."""
    played = held(f"alpha update {NOTE}#2", f"beta/main update {NOTE}")
    assert played.ambiguous(only(played)) == {
        f"alpha update {NOTE}#2": ["alpha/main", "alpha/helper"]
    }
    played = struck(f"lose_reply: alpha update {NOTE}", f"after: beta get {NOTE}")
    assert list(played.ambiguous(only(played))) == [
        f"alpha update {NOTE}", f"beta get {NOTE}",
    ]  # fmt: skip
