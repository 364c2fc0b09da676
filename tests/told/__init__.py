"""Worlds as strangers write them, each with the truth about its race: who decided, on which object,
why, and who must not be accused. The first sentence of a story is judged by that."""
