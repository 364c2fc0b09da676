"""The actors that come with the testbed."""
