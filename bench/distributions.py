"""The contribution of each rank to an allgatherv, by the distributions of Träff et al. 2008. Each contribution to the total is
rounded down."""


def proportional(total, weights):
    """Divides the total in proportion to the weights, rounded down. The sum may be a little less."""
    whole = sum(weights)
    return [total * weight // whole for weight in weights]


def regular(total, ranks):
    return proportional(total, [1] * ranks)


def broadcast(total, ranks):
    """Rank 0 has it all."""
    return [total] + [0] * (ranks - 1)


def spike(total, ranks):
    """Rank 0 has half, the others share the rest."""
    if ranks == 1:
        return [total]
    return [total // 2] + proportional(total // 2, [1] * (ranks - 1))


def half(total, ranks):
    """The lower half of the ranks has equal parts, and the upper half nothing."""
    full = (ranks + 1) // 2
    return proportional(total, [1] * full) + [0] * (ranks - full)


def linear(total, ranks):
    """Contributions fall in equal steps: rank i has (ranks - i) parts."""
    return proportional(total, range(ranks, 0, -1))


def geometric(total, ranks):
    """Rank 0 has half of the total, and rank i half of rank i - 1."""
    return [total >> (rank + 1) for rank in range(ranks)]


DISTRIBUTIONS = {f.__name__: f for f in (regular, broadcast, spike, geometric, half, linear)}


def as_text(counts):
    """"8x16384,7x0,131072", in the form that bench/collective.c and the verifier read."""
    runs = []
    for count in counts:
        if runs and runs[-1][0] == count:
            runs[-1][1] += 1
        else:
            runs.append([count, 1])
    return ",".join(f"{ranks}x{count}" for count, ranks in runs)


def random_nodes():
    """Sizes of 512 nodes, 1 to 64, by a linear congruential generator, so that they are the same on every machine."""
    sizes, x = [], 20261120
    for _ in range(512):
        x = (x * 1103515245 + 12345) % 2**31
        sizes.append(x // 65536 % 64 + 1)
    return ",".join(map(str, sizes))
