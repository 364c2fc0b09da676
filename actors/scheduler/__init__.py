"""The scheduler: gives pods their nodes, and makes room for the important ones."""
