"""Sixteen float32 numbers at once: one cache line, one vector register.

Problem   an accumulator of fixed width must stay in registers while a row of x goes by; a small
          array does not (the compiler cannot know that it is apart from the weights), so this
          is a value type for kernels, lowered to LLVM's `<16 x float>` on any processor
Given     arrays are float32 and contiguous; `at` counts elements; nothing checks a bound
Changes   `store` and the `add_*` functions write to their array
Returns   lane values; a true condition is 1.0, a false one 0.0
Cost      one to a few instructions each
Order     `multiply_add` may fuse its two roundings into one, nothing is reordered
See       the tile of pairs in `kernels.pairwise`: lane 4a + b is label a of four over label b
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

WIDTH = 16
SIDE = 4

_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, WIDTH)
_QUARTER = ir.VectorType(_FLOAT, SIDE)
_INDEX = ir.IntType(32)


class Lanes(types.Type):
    """Numba's type of sixteen float32 lanes."""

    def __init__(self):
        super().__init__(name="Lanes")


class Lines(types.Type):
    """Several times sixteen lanes: sums over a whole row of weights, each in its own register."""

    def __init__(self, lines):
        super().__init__(name=f"Lines({lines})")
        self.lines = lines


LANES = Lanes()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


@register_model(Lines)
class _LinesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.ArrayType(_VECTOR, kind.lines))


def _splat(builder, number):
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(nothing, number, _INDEX(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_INDEX, WIDTH), None))


def _pointer(context, builder, kind, array, at, vector):
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _read(context, builder, kind, array, at, vector=_VECTOR):
    return builder.load(_pointer(context, builder, kind, array, at, vector), align=4)


def _pick(builder, value, lanes):
    mask = ir.Constant(ir.VectorType(_INDEX, len(lanes)), list(lanes))
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), mask)


@intrinsic
def zeros(typing):
    """Sixteen zeros."""
    return LANES(), lambda context, builder, sig, args: ir.Constant(_VECTOR, None)


@intrinsic(prefer_literal=True)
def empty_lines(typing, lines):
    """Zeros in `lines` (a constant) lines of sixteen lanes."""
    kind = Lines(lines.literal_value)
    zero = ir.Constant(ir.ArrayType(_VECTOR, kind.lines), None)
    return kind(lines), lambda context, builder, sig, args: zero


@intrinsic
def fill(typing, number):
    """The same number in every lane."""
    return LANES(types.float32), lambda context, builder, sig, args: _splat(builder, args[0])


def _load_of(vector: Any, lanes: Iterable[int]) -> Any:
    """The intrinsic that reads a vector at array[at] and spreads its numbers over the lanes."""
    chosen = list(lanes)

    def load_lanes(typing, array, at):
        def build(context, builder, sig, args):
            return _pick(builder, _read(context, builder, sig.args[0], *args, vector), chosen)

        return LANES(array, types.intp), build

    return intrinsic(load_lanes)


# array[at : at + 16]
load = _load_of(_VECTOR, range(WIDTH))
# array[at : at + 4], each number in four neighbouring lanes: lane 4a + b holds number a.
load_as_rows = _load_of(_QUARTER, (lane // SIDE for lane in range(WIDTH)))
# array[at : at + 4] four times over: lane 4a + b holds number b.
load_as_columns = _load_of(_QUARTER, (lane % SIDE for lane in range(WIDTH)))


@intrinsic
def store(typing, array, at, lanes):
    """array[at : at + 16] = lanes, or as many lines of sixteen as `lanes` has"""

    def build(context, builder, sig, args):
        array, at, value = args
        for line in range(getattr(lanes, "lines", 1)):
            place = builder.add(at, at.type(line * WIDTH))
            part = value if lanes == LANES else builder.extract_value(value, line)
            target = _pointer(context, builder, sig.args[0], array, place, _VECTOR)
            builder.store(part, target, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), build


@intrinsic
def prefetch(typing, array, at, lanes):
    """Ask for as many cache lines from array[at] on as `lanes` has, ahead of their use."""

    def build(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        word = ir.IntType(32)
        kinds = [ir.IntType(8).as_pointer(), word, word, word]
        signature = ir.FunctionType(ir.VoidType(), kinds)
        function = builder.module.declare_intrinsic("llvm.prefetch", [kinds[0]], signature)
        for line in range(getattr(lanes, "lines", 1)):
            place = builder.gep(data, [builder.add(args[1], args[1].type(line * WIDTH))])
            builder.call(function, [builder.bitcast(place, kinds[0]), word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), build


@intrinsic
def add_lines(typing, number, array, at, total):
    """total + number * array[at : ...], with as many lines of sixteen as `total` has"""

    def build(context, builder, sig, args):
        number, array, at, total = args
        factor = _splat(builder, number)
        for line in range(sig.return_type.lines):
            place = builder.add(at, at.type(line * WIDTH))
            row = _read(context, builder, sig.args[1], array, place)
            product = builder.fmul(factor, row, flags=("contract",))
            old = builder.extract_value(total, line)
            new = builder.fadd(product, old, flags=("contract",))
            total = builder.insert_value(total, new, line)
        return total

    return total(types.float32, array, types.intp, total), build


@intrinsic
def multiply_add(typing, number, lanes, total):
    """number * lanes + total"""

    def build(context, builder, sig, args):
        number, lanes, total = args
        product = builder.fmul(_splat(builder, number), lanes, flags=("contract",))
        return builder.fadd(product, total, flags=("contract",))

    return LANES(types.float32, LANES, LANES), build


def _of_two(expression: Callable[..., Any]) -> Any:
    """The intrinsic `(left, right) -> lanes` of an expression of LLVM."""

    def combine(typing, left, right):
        return LANES(LANES, LANES), lambda context, builder, sig, args: expression(builder, *args)

    return intrinsic(combine)


def _compare(sign: str, builder: Any, left: Any, right: Any) -> Any:
    return builder.uitofp(builder.fcmp_ordered(sign, left, right), _VECTOR)


def _least(builder: Any, left: Any, right: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", left, right), left, right)


add = _of_two(ir.IRBuilder.fadd)
subtract = _of_two(ir.IRBuilder.fsub)
multiply = _of_two(ir.IRBuilder.fmul)
smaller = _of_two(_least)
# Never true where either is NaN.
at_most = _of_two(partial(_compare, "<="))
above = _of_two(partial(_compare, ">"))


@intrinsic
def count(typing, lanes):
    """How many lanes are not 0."""

    def build(context, builder, sig, args):
        some = builder.fcmp_unordered("!=", args[0], ir.Constant(_VECTOR, None))
        bits = builder.bitcast(some, ir.IntType(WIDTH))
        return builder.zext(builder.ctpop(bits), ir.IntType(64))

    return types.int64(LANES), build


def _adding(halves: Callable[[int], tuple[Any, Any]]) -> Any:
    """The intrinsic that adds sums of lanes to array[at : at + 4]: twice one half to the other."""

    def add_sums(typing, lanes, array, at):
        def build(context, builder, sig, args):
            lanes, array, at = args
            for width in (WIDTH, WIDTH // 2):
                one, other = halves(width)
                lanes = builder.fadd(_pick(builder, lanes, one), _pick(builder, lanes, other))
            place = _pointer(context, builder, sig.args[1], array, at, _QUARTER)
            builder.store(builder.fadd(builder.load(place, align=4), lanes), place, align=4)
            return context.get_dummy_value()

        return types.void(LANES, array, types.intp), build

    return intrinsic(add_sums)


# array[at + a] += the sum of lanes 4a ... 4a + 3
add_rows = _adding(lambda width: (range(0, width, 2), range(1, width, 2)))
# array[at + b] += the sum of lanes b, 4 + b, 8 + b, 12 + b
add_columns = _adding(lambda width: (range(width // 2), range(width // 2, width)))
