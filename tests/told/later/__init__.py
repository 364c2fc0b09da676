"""Worlds that were written when the causes of stories were done, to judge these: incidents that
were reported in public, each of which names its source."""
