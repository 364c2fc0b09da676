"""Worlds as authors of controllers, of schedulers, and students write them: the breach is an end
state, a record, something that was not done, or what somebody else has ordered."""
