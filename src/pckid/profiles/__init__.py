"""What clusters are like, as a table: computed once, and written, drawn and shown from there."""

from pckid.profiles.profile import Profile, profile

__all__ = ["Profile", "profile"]
