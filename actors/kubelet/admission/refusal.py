"""AdmissionRefusal: why a pod is rejected, as its status and an Event say it."""

from __future__ import annotations

import attrs


@attrs.frozen
class AdmissionRefusal:
    """Why a pod is rejected."""

    reason: str
    why: str

    @property
    def message(self) -> str:
        """The message in the status of the pod."""
        return f"Pod was rejected: {self.why}"
