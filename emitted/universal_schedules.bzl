"""The schedules from which the preload library chooses. Rules that `choose` writes name only these."""

# For each collective, its algorithms with their options. "-between-groups" marks a collective between two groups.
UNIVERSAL_SCHEDULES = {
    "allgather": [
        "blocked-ring",
        "blocked-ring-nodes",
        "bruck",
        "hypercube",
        "linear-ring",
        "neighbor-exchange",
        "recursive-doubling",
    ],
    "allgather-between-groups": [
        "leader",
        "segment-map-bruck",
        "segment-map-nodes",
        "segment-map-v",
        "subgroup-bruck",
        "two-stage",
    ],
    "allreduce": [
        "binomial",
        "blocked-ring-nodes",
        "circulant",
        "doubling",
        "halving",
        "hierarchical",
        "lanes",
        "rabenseifner",
        "recursive-multiplying:radix=4",
        "ring",
        "ring-nodes",
        "segments",
    ],
    "allreduce-between-groups": ["leader", "segments"],
    "alltoall": [
        "factor",
        "hierarchical-factor",
        "hierarchical-overlapped",
        "linear",
        "pairwise",
        "scattered",
        "spread-out",
    ] + [
        "%s:radix=%s" % (algorithm, radix)
        for algorithm in ["tuna", "tuna-coalesced"]
        for radix in ["2", "4", "8", "16", "sqrt"]
    ],
    "alltoall-between-groups": ["direct", "factor"],
    "barrier": ["dissemination"],
    "barrier-between-groups": ["dissemination"],
    "broadcast": ["binomial", "hypercube", "pipeline", "pipeline-nodes", "scatter-ring"],
    "broadcast-between-groups": ["leader", "pipeline", "scatter-ring"],
    "exscan": ["binomial", "one-two-three"],
    "gather": ["binomial", "linear"],
    "gather-between-groups": ["linear", "tree"],
    "reduce": ["binomial", "hypercube", "pipeline", "pipeline-nodes", "rabenseifner", "ring"],
    "reduce-between-groups": ["leader", "segments"],
    "reduce-scatter": [
        "blocked-ring-nodes",
        "circulant",
        "halving",
        "hypercube",
        "pairwise",
        "ring",
        "spread-out",
    ],
    "reduce-scatter-between-groups": ["direct", "leader", "spread-out"],
    "scan": ["binomial", "doubling"],
    "scatter": ["binomial", "linear"],
    "scatter-between-groups": ["linear", "tree"],
}
