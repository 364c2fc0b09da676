"""The shim: what the core hears of Kubernetes, and what Kubernetes is asked for the core.

May use: amounts, messages, core.
In order: pods, core_line, context, callbacks, shim, __init__.
"""
