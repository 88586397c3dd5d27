"""Random numbers addressed by position, not by turn.

Problem   a value that depends on (seed, a, b) alone, so that the order of work, the layout of
          memory and the number of threads cannot change it
Given     seed, a, b: integers >= 0
Returns   `uniform` in (0, 1), `normal` with mean 0 and variance 1
Changes   `fill_normal`: lanes first..last-1 of W (d, B), which hold labels lo + lane
Cost      O(1) a number
See       Steele, Lea & Flood 2014 (SplitMix64's finaliser)
"""

import math

import numpy as np

from labelrank.kernels._compile import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
RANDOM_SCALE = 0.01
SCALE = 1.0 / float(1 << 53)


@kernel
def mix(z):
    """The finaliser of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@kernel
def uniform(seed, a, b):
    z = mix(np.uint64(seed) + GOLDEN)
    z = mix(z ^ (np.uint64(a) + GOLDEN))
    z = mix(z ^ (np.uint64(b) + GOLDEN))
    return (float(z >> np.uint64(11)) + 0.5) * SCALE


@kernel
def normal(seed, a, b):
    radius = math.sqrt(-2.0 * math.log(uniform(seed, a, 2 * b)))
    return radius * math.cos(2.0 * math.pi * uniform(seed, a, 2 * b + 1))


@kernel
def fill_normal(W, first, last, lo, scale, seed):
    """Small normal weights that depend on the feature and the label alone."""
    for j in range(W.shape[0]):
        for k in range(first, last):
            W[j, k] = scale * normal(seed, j, lo + k)
