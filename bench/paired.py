"""Computes medians, and 95 % confidence intervals of the true median.

The interval depends only on the order of the values (binomial), so it assumes nothing about the distribution of
times. Its confidence is at least 95 % from six values on. With fewer, it reaches from the least to the greatest.
"""
from math import comb


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def left_out(n):
    """Returns how many of n ordered values to drop at each end. In 95 % of cases the median is among the rest."""
    below, out = 0.0, 0
    while out < n // 2:
        below += comb(n, out) * 0.5**n
        if 2 * below > 0.05:
            break
        out += 1
    return max(out - 1, 0)


def interval(values):
    """Returns the 95 % interval of the median: [low, high]."""
    ordered = sorted(values)
    out = left_out(len(ordered))
    return [ordered[out], ordered[-1 - out]]


def ratios(pairs):
    """Returns native / ours of each pair. A disturbance most likely affects both calls of a pair."""
    return [native / ours for native, ours in pairs]
