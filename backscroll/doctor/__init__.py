"""Is every part there, and is it what the settings say? One line each, with what to do about it."""

from backscroll.doctor.examine import examine, examine_engines
from backscroll.doctor.finding import Finding

__all__ = ["Finding", "examine", "examine_engines"]
