"""What each story says today that does not begin truly: the reason why it is expected to fail."""

from __future__ import annotations

TODAY: dict[str, str] = {
    "pressure": (
        "agent removes pods that scheduler binds to n1, and batch makes new ones, 6 "
        "times: last agent marked pods/default/large-ss4tv for deletion (step 433), batch "
        "created pods/default/large-tnwsl (step 465)."
    ),
    "empty_node": ("disruption created configmaps/default/order (step 38), and not nodes/n1."),
    "resized": (
        "scheduler's news of notes/default/web was late (step 24), after scheduler's get "
        "of notes/default/web; so agent updated notes/default/web (step 37)."
    ),
    "late_target": (
        "virt-controller created notes/default/target at rv 2 (step 6), and then its "
        "create of notes/default/target was refused, AlreadyExists (step 8); it never "
        "made up for that."
    ),
    "never_adopted": (
        "machine-controller never patched notes/default/m-1: the answer to its get of "
        "notes/default/m-1 came (step 21) only after its news of configmaps/default/m-1 "
        "(step 19); so machine-controller never deleted notes/default/m-1."
    ),
    "three_forks": (
        "quine updated notes/default/fork-1 at rv 6 (step 12), and then its update of "
        "notes/default/fork-2 was refused, Conflict (step 24), after russell updated "
        "notes/default/fork-2 at rv 7 (step 20)."
    ),
    "tickets": (
        "hal recorded gives out number=1 (step 21), believing that data.next of "
        'notes/default/counter was "1", as it read at rv 2 (step 9); false since gil '
        "updated it at rv 3 (step 15)."
    ),
    "clock_jump-back": (
        "The clock of blue jumped (step 18); so red recorded works until_ms=25000 (step 28)."
    ),
    "never_adopted-sought": (
        "machine-controller never deleted notes/default/m-1, not knowing of "
        "notes/default/m-1; machineset created it at rv 2 (step 6)."
    ),
    "three_forks-sought": (
        "russell never updated notes/default/fork-0: quine's update of "
        "notes/default/fork-1 was late (step 8), after russell's update of "
        "notes/default/fork-2."
    ),
    "tickets-sought": (
        "hal recorded gives out number=1 (step 15), believing that data.next of "
        'notes/default/counter was "1", as it read at rv 2 (step 9); false since gil '
        "updated it at rv 3 (step 11)."
    ),
}
