"""The one family of errors: each message says what was got, what was wanted, what to do."""


class LabelrankError(Exception):
    """Any mistake labelrank can explain in one sentence."""


class InputError(LabelrankError, ValueError):
    """Arrays, labels or parameters that no learner or criterion can use."""


class FormatError(LabelrankError, ValueError):
    """A data file that is broken, hostile, too large or of another format."""


class ModelFileError(LabelrankError, ValueError):
    """A model file that is damaged, foreign, newer, or cannot hold what it is given."""


class MissingError(LabelrankError, LookupError):
    """A data set, learner, experiment, file or optional package that is not there."""
