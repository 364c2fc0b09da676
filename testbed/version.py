"""The version of this testbed, which every trace names."""

VERSION = "0.1.0"
