from backscroll.replay.command import replay

__all__ = ["replay"]
