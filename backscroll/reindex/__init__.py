from backscroll.reindex.command import reindex

__all__ = ["reindex"]
