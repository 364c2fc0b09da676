"""The scenarios that come with the testbed: each a race, and the guard that keeps it away."""
