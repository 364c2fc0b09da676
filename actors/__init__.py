"""The actors that come with the testbed. Each knows of it only what is listed here.

May use: testbed.__init__, testbed.errors, testbed.objects, testbed.switches, testbed.policy,
  testbed.store, testbed.turns.trace, testbed.invariant, testbed.invariants, testbed.testing.mutant.
In order: framework, shared; then siblings.
"""
