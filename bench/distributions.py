"""Distributions of Träff et al. 2008: each divides the total of an allgatherv into the contributions of the ranks.
Contributions are in bytes, rounded down."""


def proportional(total, weights):
    """Divides the total in proportion to the weights. Rounds down, so the sum may be a little less than the total."""
    whole = sum(weights)
    return [total * weight // whole for weight in weights]


def regular(total, ranks):
    return proportional(total, [1] * ranks)


def broadcast(total, ranks):
    """Rank 0 has everything."""
    return [total] + [0] * (ranks - 1)


def spike(total, ranks):
    """Rank 0 has half, and the others share the rest equally."""
    if ranks == 1:
        return [total]
    return [total // 2] + proportional(total // 2, [1] * (ranks - 1))


def half(total, ranks):
    """The lower half of the ranks has equal parts, and the upper half nothing."""
    full = (ranks + 1) // 2
    return proportional(total, [1] * full) + [0] * (ranks - full)


def linear(total, ranks):
    """Contributions fall in equal steps: rank i has (ranks - i) shares."""
    return proportional(total, range(ranks, 0, -1))


def geometric(total, ranks):
    """Rank 0 has half of the total, and rank i half of rank i - 1."""
    return [total >> (rank + 1) for rank in range(ranks)]


DISTRIBUTIONS = {f.__name__: f for f in (regular, broadcast, spike, geometric, half, linear)}


def as_text(counts):
    """Returns the counts as bench/collective.c and the verifier read them, such as 8x16384,7x0,1x131072."""
    runs = []
    for count in counts:
        if runs and runs[-1][0] == count:
            runs[-1][1] += 1
        else:
            runs.append([count, 1])
    return ",".join(f"{ranks}x{count}" for count, ranks in runs)


def random_nodes():
    """Returns the sizes of 512 nodes, 1 to 64, from a linear congruential generator: the same on every machine."""
    sizes, x = [], 20261120
    for _ in range(512):
        x = (x * 1103515245 + 12345) % 2**31
        sizes.append(x // 65536 % 64 + 1)
    return ",".join(map(str, sizes))
