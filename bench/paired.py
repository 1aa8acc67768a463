"""Medians, and between which values the true median lies with 95 %.

The interval is taken from the order of the values alone (binomial), so nothing is supposed of how times are distributed.
It is exact in that it never covers less than 95 %; of fewer than six values not even the least and the greatest do, and
these are what is given.
"""
from math import comb


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def left_out(n):
    """How many of n ordered values to leave out at each end: the true median lies outside the rest with 5 % at most."""
    below, out = 0.0, 0
    while out < n // 2:
        below += comb(n, out) * 0.5**n
        if 2 * below > 0.05:
            break
        out += 1
    return max(out - 1, 0)


def interval(values):
    """The 95 % interval of the median: [low, high]."""
    ordered = sorted(values)
    out = left_out(len(ordered))
    return [ordered[out], ordered[-1 - out]]


def ratios(pairs):
    """Pair by pair: what the machine does to one call of a pair, it most likely does to the other."""
    return [native / ours for native, ours in pairs]
