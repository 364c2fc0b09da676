"""Incidents of controllers and operators that were reported in public, each rebuilt as a small
World; each names its source."""
