"""The API server: what every other program speaks to; a file for each family of its verbs."""

from actors.apiserver.server import ApiServer

__all__ = ["ApiServer"]
