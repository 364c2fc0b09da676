"""What each story says today that does not begin truly: the reason why it is expected to fail."""

from __future__ import annotations

TODAY: dict[str, str] = {
    "pressure": (
        "agent removes pods that scheduler binds to n1, and batch makes new ones, 6 "
        "times: last agent marked pods/default/large-ss4tv for deletion (step 433), batch "
        "created pods/default/large-tnwsl (step 465)."
    ),
    "deadlock": (
        "ann created configmaps/default/config (step 8), and that broke it; the trace "
        "shows no more of why; ann's create of configmaps/default/config was late, after "
        "controller's get of configmaps/default/config."
    ),
    "dies_of_old_news": (
        "scorer died of KeyError (step 23) at dies_of_old_news.py:33, an error of its own."
    ),
    "each_waits": (
        "It would hold without this: ann created pods/default/large (step 30); no Run was "
        "found that shows why."
    ),
    "empty_node": (
        "terminator deleted nodes/n1 (step 42) without ever having read pods/default/web; "
        "scheduler bound it to n1 at rv 4 (step 31)."
    ),
    "late_admission": (
        "job-controller never patched configmaps/default/low; it knew that kueue updated "
        "configmaps/default/low at rv 5 (step 10)."
    ),
    "resized": (
        "agent updated notes/default/web (step 37); it knew that scheduler updated "
        "notes/default/web at rv 5 (step 30)."
    ),
    "woken_too_early": ("scheduler recorded parks pod=pods/default/web (step 24)."),
    "aborted": (
        "It would hold without this: experiments patched configmaps/default/blue (step "
        "32) and ann created configmaps/default/blue (step 15); no Run was found that "
        "shows why."
    ),
    "refused_promotion": (
        "multikueue's update of notes/default/job was refused, Forbidden (step 65) and "
        "took no effect; multikueue wrote nothing after that."
    ),
    "by_plan-not-yet-made": (
        "scheduler created pods/default/web-b (step 31); it knew that planner created "
        "configmaps/default/plan-b at rv 3 (step 21)."
    ),
    "clock_jump-back": (
        "It would hold without this: red recorded works until_ms=25000 (step 28); no Run "
        "was found that shows why."
    ),
    "cloud-slow": (
        "provisioner's launch of nodes/m-1 timed out (step 10); it took effect at rv 5 "
        "(step 15); its caller never learned of that."
    ),
}
