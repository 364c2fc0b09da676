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
}
