"""The store: versioned objects with their whole history, and how they are read and watched.

May use: errors, code, objects, switches.
In order: change, footprint, txn, kept, listeners, store, altered, selector, delivery, watch,
  endpoint, retold, precondition, store_endpoint.
"""
