from backscroll.deadletters.command import deadletters

__all__ = ["deadletters"]
