"""The version of this testbed, as it stands in every trace."""

VERSION = "0.1.0"
