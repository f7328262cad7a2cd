"""What Backscroll is compared with: plain orders of the older messages under the same budget.

All of them take a quarter of the budget for the newest messages and fill the rest in their order; they
differ in the order alone.
"""
