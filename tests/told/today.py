"""What each story says today that does not begin truly: the reason why it is expected to fail."""

from __future__ import annotations

TODAY: dict[str, str] = {
    "pressure": (
        "agent removes pods that scheduler binds to n1, and batch makes new ones, 6 "
        "times: last agent marked pods/default/large-ss4tv for deletion (step 433), batch "
        "created pods/default/large-tnwsl (step 465)."
    ),
    "empty_node": (
        "terminator deleted nodes/n1 (step 42) without ever having read pods/default/web; "
        "scheduler bound it to n1 at rv 4 (step 31)."
    ),
    "resized": (
        "agent updated notes/default/web (step 37); it knew that scheduler updated "
        "notes/default/web at rv 5 (step 30)."
    ),
    "clock_jump-back": (
        "The clock of blue jumped (step 18); so red recorded works until_ms=25000 (step 28)."
    ),
    # later
    "equal_endpoints": (
        "endpoints-controller never updated configmaps/default/web, not knowing of "
        "configmaps/default/web; endpoints-controller updated it at rv 5 (step 21)."
    ),
    "in_deletion-sought": (
        "collector removed notes/default/prometheus by its update of it (step 34) without "
        "ever having read configmaps/default/prometheus; ann patched it at rv 4 (step 23)."
    ),
    "late_target": (
        "virt-controller created notes/default/target at rv 2 (step 6), and then its create "
        "of notes/default/target was refused, AlreadyExists (step 8); it never made up for "
        "that."
    ),
    "late_target-sought": (
        "virt-controller created notes/default/target (step 11), and that broke it; the "
        "trace shows no more of why; virt-controller's create of notes/default/target was "
        "late, after virt-controller's get of notes/default/target."
    ),
    "left_in_namespace": (
        "namespace-controller deleted configmaps/default/team-a (step 19), and not "
        "notes/default/cluster-ca."
    ),
    "never_adopted": (
        "machine-controller never deleted notes/default/m-1; it knew that machineset "
        "created notes/default/m-1 at rv 2 (step 9)."
    ),
    "never_adopted-sought": (
        "machine-controller never deleted notes/default/m-1, not knowing of "
        "notes/default/m-1; machineset created it at rv 2 (step 6)."
    ),
    "quota_charged": (
        "ben's create of notes/default/ben was refused, Forbidden (step 11), and ben never "
        "did it again."
    ),
    "refused_for_good": (
        "cronjobs's update of configmaps/default/backup was refused, Conflict (step 15): "
        'cronjobs believed that data.suspend of configmaps/default/backup was "false", as '
        "it listed at rv 2 (step 5); false since ann patched it at rv 4 (step 12); cronjobs "
        "never did it again."
    ),
    "two_keys": (
        "key-manager patched configmaps/default/web (step 31); it knew that ann created "
        "configmaps/default/web at rv 3 (step 19); so key-manager deleted "
        "notes/default/key-4d48j (step 36)."
    ),
    "all_at_once": (
        "replicasets never created pods/default/web-tz2mkdbxwm-tckq4, not knowing of "
        "pods/default/web-t8nzjpf2kq-5fq5w; replicasets marked it for deletion at rv 22 "
        "(step 165)."
    ),
    "baton": (
        "olga never updated notes/default/goal: the answer to its update of "
        "notes/default/olga never came."
    ),
    "paid_twice": (
        "bob created notes/default/paid-power (step 13), and that broke it; the trace shows "
        "no more of why."
    ),
    "seats": (
        "eva recorded has a seat (step 20), believing that there was no notes/default/dora, "
        "as it listed at rv 2 (step 14); false since dora created it at rv 4 (step 18)."
    ),
    "three_forks": (
        "quine updated notes/default/fork-1 at rv 6 (step 12), and then its update of "
        "notes/default/fork-2 was refused, Conflict (step 24), after russell updated "
        "notes/default/fork-2 at rv 7 (step 20)."
    ),
    "three_forks-sought": (
        "quine never recorded has eaten; it knew that russell updated notes/default/fork-2 "
        "at rv 5 (step 12)."
    ),
    "tickets": (
        "hal recorded gives out number=1 (step 21), believing that data.next of "
        'notes/default/counter was "1", as it read at rv 2 (step 9); false since gil '
        "updated it at rv 3 (step 15)."
    ),
    "tickets-sought": (
        "hal recorded gives out number=1 (step 15), believing that data.next of "
        'notes/default/counter was "1", as it read at rv 2 (step 9); false since gil '
        "updated it at rv 3 (step 11)."
    ),
    "without_budget": (
        "drain marked pods/default/web-2 for deletion (step 78) without ever having read "
        "poddisruptionbudgets/default/web; disruption-controller updated the status of it "
        "at rv 6 (step 33)."
    ),
}
