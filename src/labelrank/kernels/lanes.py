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


def _splat(builder, number, vector=_VECTOR):
    chosen = ir.Constant(ir.VectorType(_INDEX, vector.count), None)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, _INDEX(0))
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), chosen)


def _pointer(context, builder, kind, array, at, vector):
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _read(context, builder, kind, array, at, vector=_VECTOR):
    return builder.load(_pointer(context, builder, kind, array, at, vector), align=4)


def _pick(builder, value, lanes):
    mask = ir.Constant(ir.VectorType(_INDEX, len(lanes)), list(lanes))
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), mask)


def _truth(builder, condition):
    return builder.uitofp(condition, _VECTOR)


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


@intrinsic
def load(typing, array, at):
    """array[at : at + 16]"""

    def build(context, builder, sig, args):
        return _read(context, builder, sig.args[0], *args)

    return LANES(array, types.intp), build


@intrinsic
def store(typing, array, at, lanes):
    """array[at : at + 16] = lanes"""

    def build(context, builder, sig, args):
        target = _pointer(context, builder, sig.args[0], args[0], args[1], _VECTOR)
        builder.store(args[2], target, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, LANES), build


@intrinsic
def store_lines(typing, array, at, total):
    """As `store`, for several lines."""

    def build(context, builder, sig, args):
        for line in range(total.lines):
            at = builder.add(args[1], args[1].type(line * WIDTH))
            target = _pointer(context, builder, sig.args[0], args[0], at, _VECTOR)
            builder.store(builder.extract_value(args[2], line), target, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, total), build


def _ask_for(context, builder, kind, array, at, lines):
    data = context.make_array(kind)(context, builder, array).data
    word = ir.IntType(32)
    kinds = [ir.IntType(8).as_pointer(), word, word, word]
    signature = ir.FunctionType(ir.VoidType(), kinds)
    function = builder.module.declare_intrinsic("llvm.prefetch", [kinds[0]], signature)
    for line in range(lines):
        place = builder.gep(data, [builder.add(at, at.type(line * WIDTH))])
        builder.call(function, [builder.bitcast(place, kinds[0]), word(0), word(3), word(1)])
    return context.get_dummy_value()


@intrinsic
def prefetch(typing, array, at):
    """Ask for the cache line of array[at] ahead of its use."""

    def build(context, builder, sig, args):
        return _ask_for(context, builder, sig.args[0], *args, lines=1)

    return types.void(array, types.intp), build


@intrinsic
def prefetch_lines(typing, array, at, lanes):
    """Ask for as many cache lines from array[at] on as `lanes` has."""

    def build(context, builder, sig, args):
        return _ask_for(context, builder, sig.args[0], args[0], args[1], lanes.lines)

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
def load_as_rows(typing, array, at):
    """array[at : at + 4], each number in four neighbouring lanes: lane 4a + b holds number a."""

    def build(context, builder, sig, args):
        four = _read(context, builder, sig.args[0], *args, _QUARTER)
        return _pick(builder, four, [lane // SIDE for lane in range(WIDTH)])

    return LANES(array, types.intp), build


@intrinsic
def load_as_columns(typing, array, at):
    """array[at : at + 4] four times over: lane 4a + b holds number b."""

    def build(context, builder, sig, args):
        four = _read(context, builder, sig.args[0], *args, _QUARTER)
        return _pick(builder, four, [lane % SIDE for lane in range(WIDTH)])

    return LANES(array, types.intp), build


@intrinsic
def multiply_add(typing, number, lanes, total):
    """number * lanes + total"""

    def build(context, builder, sig, args):
        number, lanes, total = args
        product = builder.fmul(_splat(builder, number), lanes, flags=("contract",))
        return builder.fadd(product, total, flags=("contract",))

    return LANES(types.float32, LANES, LANES), build


@intrinsic
def add(typing, left, right):
    return LANES(LANES, LANES), lambda context, builder, sig, args: builder.fadd(*args)


@intrinsic
def subtract(typing, left, right):
    return LANES(LANES, LANES), lambda context, builder, sig, args: builder.fsub(*args)


@intrinsic
def multiply(typing, left, right):
    return LANES(LANES, LANES), lambda context, builder, sig, args: builder.fmul(*args)


@intrinsic
def at_most(typing, left, right):
    """Where left <= right; never where either is NaN."""

    def build(context, builder, sig, args):
        return _truth(builder, builder.fcmp_ordered("<=", *args))

    return LANES(LANES, LANES), build


@intrinsic
def above(typing, left, right):
    """Where left > right; never where either is NaN."""

    def build(context, builder, sig, args):
        return _truth(builder, builder.fcmp_ordered(">", *args))

    return LANES(LANES, LANES), build


@intrinsic
def smaller(typing, left, right):
    def build(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return LANES(LANES, LANES), build


@intrinsic
def count(typing, lanes):
    """How many lanes are not 0."""

    def build(context, builder, sig, args):
        some = builder.fcmp_unordered("!=", args[0], ir.Constant(_VECTOR, None))
        bits = builder.bitcast(some, ir.IntType(WIDTH))
        return builder.zext(builder.ctpop(bits), ir.IntType(64))

    return types.int64(LANES), build


def _add_four(context, builder, kind, array, at, four):
    target = _pointer(context, builder, kind, array, at, _QUARTER)
    builder.store(builder.fadd(builder.load(target, align=4), four), target, align=4)


@intrinsic
def add_rows(typing, lanes, array, at):
    """array[at + a] += the sum of lanes 4a ... 4a + 3"""

    def build(context, builder, sig, args):
        lanes, array, at = args
        for width in (WIDTH, WIDTH // 2):
            even = _pick(builder, lanes, range(0, width, 2))
            lanes = builder.fadd(even, _pick(builder, lanes, range(1, width, 2)))
        _add_four(context, builder, sig.args[1], array, at, lanes)
        return context.get_dummy_value()

    return types.void(LANES, array, types.intp), build


@intrinsic
def add_columns(typing, lanes, array, at):
    """array[at + b] += the sum of lanes b, 4 + b, 8 + b, 12 + b"""

    def build(context, builder, sig, args):
        lanes, array, at = args
        for half in (WIDTH // 2, SIDE):
            low = _pick(builder, lanes, range(half))
            lanes = builder.fadd(low, _pick(builder, lanes, range(half, 2 * half)))
        _add_four(context, builder, sig.args[1], array, at, lanes)
        return context.get_dummy_value()

    return types.void(LANES, array, types.intp), build
