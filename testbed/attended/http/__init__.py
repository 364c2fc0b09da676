"""HTTP: what a program asks, as an Operation, and what it is answered, as Kubernetes writes it.

No file here knows of a World: it turns bytes into data, and data into bytes.

May use: nothing.
In order: exchange, reply, limits, status, target, tokens, connection, backlog, channel, listener,
  accept, unmodelled, reviews, catalogue, discovery, openapi, tables, place, answer_form, selecting,
  bodies, meaning, causes, answers.
"""
