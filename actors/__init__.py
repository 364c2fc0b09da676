"""The actors that come with the testbed: the programs under test.

May use: testbed.__init__, testbed.errors, testbed.code.quick, testbed.objects, testbed.switches,
  testbed.policy, testbed.store, testbed.turns.because, testbed.turns.found, testbed.turns.trace,
  testbed.invariant, testbed.invariants, testbed.testing.mutant, testbed.fault, testbed.faults.
In order: framework, shared; then siblings.
"""
