"""What a hostile author could put into a model file under a right checksum: tree and arrays."""

import numpy as np

A = {"kind": "array", "tensor": "0"}
TEXT = {"blob": "0", "lengths": "1"}


def _sparse(**changes):
    parts = {
        p: {"kind": "array", "tensor": n} for p, n in zip(("data", "indices", "indptr"), "012")
    }
    return {"kind": "sparse", "class": "csr_array", "shape": [1, 2], **parts, **changes}


def an_object(name, **state):
    return {"kind": "object", "class": name, "state": state}


def _masked(shape):
    return {"kind": "mostly_zero", "mask": "0", "values": "1", "shape": shape}


def _bits(name):
    return {"kind": "dict", "keys": ["bit_generator"], "values": [name]}


def _nested(depth):
    node = None
    for _ in range(depth):
        node = [node]
    return node


HOSTILE = {
    "unknown class": (an_object("os.system"), []),
    "module of the library": (an_object("labelrank.persistence"), []),
    "class that is a list": (an_object(["sklearn.Ridge"]), []),
    "class not listed": (an_object("sklearn.SVC"), []),
    "dunder attribute": (an_object("sklearn.Ridge", __class__=None), []),
    "attribute with a space": (an_object("sklearn.Ridge", **{"a b": None}), []),
    "state that is a list": ({"kind": "object", "class": "sklearn.Ridge", "state": []}, []),
    "reads files": (an_object("sklearn.CountVectorizer", input="filename"), []),
    "unknown kind": ({"kind": "code"}, []),
    "kind that is a list": ({"kind": ["array"]}, []),
    "no kind": ({}, []),
    "missing array": (A, []),
    "array name that is a list": ({"kind": "array", "tensor": ["0"]}, [np.zeros(1)]),
    "arrays left over": (None, [np.zeros(1)]),
    "truth value of 7": (A, [np.array([7], np.uint8).view(bool)]),
    "mask shorter than its array": (_masked([2**40]), [np.zeros(8, np.uint8), np.zeros(0)]),
    "mask of numbers": (_masked([64]), [np.zeros(8, np.uint16), np.zeros(0)]),
    "one value for all places": (_masked([64]), [np.full(8, 255, np.uint8), np.ones(1)]),
    "values beyond the mask": (_masked([64]), [np.zeros(8, np.uint8), np.ones(1)]),
    "mask of truth values": (_masked([8]), [np.ones(1, np.uint8), np.ones(1, bool)]),
    "side that is no number": (_masked([64, True]), [np.zeros(8, np.uint8), np.zeros(0)]),
    "negative sides": (_masked([-8, -8]), [np.zeros(8, np.uint8), np.zeros(0)]),
    "lengths beyond the text": (
        {"kind": "list", "items": {"kind": "strings", "text": TEXT}},
        [np.zeros(3, np.uint8), np.array([2**31], np.uint32)],
    ),
    "text that is not UTF-8": (
        {"kind": "object_array", "text": TEXT, "shape": [1]},
        [np.full(1, 255, np.uint8), np.array([1], np.uint32)],
    ),
    "shape that does not fit": (
        {"kind": "object_array", "text": TEXT, "shape": [2**40]},
        [np.zeros(1, np.uint8), np.array([1], np.uint32)],
    ),
    "text used twice": (
        [{"kind": "object_array", "text": TEXT, "shape": [1]}] * 2,
        [np.zeros(1, np.uint8), np.array([1], np.uint32)],
    ),
    "character beyond Unicode": (
        {"kind": "unicode_array", "tensor": "0", "shape": [1]},
        [np.full((1, 1), 2**31, np.uint32)],
    ),
    "characters without a width": (
        {"kind": "unicode_array", "tensor": "0", "shape": [1]},
        [np.zeros(1, np.uint32)],
    ),
    "column outside the matrix": (_sparse(), [np.ones(1), np.array([2]), np.array([0, 1])]),
    "negative column": (_sparse(), [np.ones(1), np.array([-1]), np.array([0, 1])]),
    "rows that do not end": (_sparse(), [np.ones(1), np.array([0]), np.array([0, 9])]),
    "negative shape": (_sparse(shape=[1, -2]), [np.ones(1), np.array([0]), np.array([0, 1])]),
    "other sparse format": (_sparse(**{"class": "dia_array"}), [np.ones(1)] * 3),
    "sparse part that is text": (_sparse(data="x"), [np.ones(1)] * 3),
    "unequal keys and values": ({"kind": "dict", "keys": ["a"], "values": []}, []),
    "list as a key": ({"kind": "dict", "keys": [[1]], "values": [1]}, []),
    "key twice": ({"kind": "dict", "keys": [1, True], "values": [1, 2]}, []),
    "unknown random generator": (
        {
            "kind": "generator",
            "state": {"kind": "dict", "keys": ["bit_generator"], "values": ["x"]},
        },
        [],
    ),
    "random state without state": (
        {"kind": "random_state", "state": _bits("MT19937")},
        [],
    ),
    "float by another name": ({"kind": "float", "value": "1"}, []),
    "type by another name": ({"kind": "type", "name": "eval"}, []),
    "object type": ({"kind": "dtype", "name": "object"}, []),
    "nested too deeply": (_nested(200), []),
}
