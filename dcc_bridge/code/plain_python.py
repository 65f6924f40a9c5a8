"""Lists what plain code may use of Python: builtins, modules that only compute, and methods.

What an application adds, its leaf lists in a `dcc_bridge.verbs.plain_names.PlainNames`. Not listed
is what a short text can freeze or crash the application with: iterators without an end or nested
within each other, numbers and repeats of any size, and what calls functions of others. Any thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dcc_bridge.verbs.plain_names import LiteralArgument

_BUILTINS: Final = """
    False True None NotImplemented Ellipsis abs all any bin bool callable chr complex dict divmod
    enumerate filter float format frozenset hex id int isinstance len list map max min next oct ord
    print range repr reversed round set slice sorted str sum tuple zip
    ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError
    NotImplementedError OverflowError ReferenceError RuntimeError StopIteration TypeError ValueError
    ZeroDivisionError
"""
BUILTINS: Final = frozenset(_BUILTINS.split())
_MATCHING: Final = "compile findall finditer fullmatch match search split sub subn"
_OF_MODULES: Final[Mapping[str, str]] = {
    "math": """
        acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees dist e erf erfc exp
        expm1 fabs floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm
        ldexp lgamma log log10 log1p log2 modf nan pi pow radians remainder sin sinh sqrt tan tanh
        tau trunc""",
    "cmath": "cos e exp inf log phase pi polar rect sin sqrt tan",
    "random": """
        Random betavariate choice choices expovariate gauss lognormvariate normalvariate
        paretovariate randint random randrange sample seed shuffle triangular uniform
        vonmisesvariate""",
    "collections": "Counter OrderedDict defaultdict deque",
    "json": "dumps loads JSONDecodeError",
    "re": f"ASCII I IGNORECASE M MULTILINE escape {_MATCHING}",
    "string": """
        ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation
        whitespace""",
    "statistics": """
        fmean geometric_mean harmonic_mean mean median median_high median_low mode pstdev pvariance
        stdev variance""",
    "datetime": """
        date datetime time timedelta timezone date.today datetime.now datetime.fromisoformat
        datetime.strptime date.fromisoformat timezone.utc""",
    "time": "monotonic perf_counter time",
    "typing": """
        Any Callable Dict Iterable Iterator List Mapping Optional Sequence Set Tuple Union""",
    "colorsys": "hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb",
}
MODULES: Final = frozenset({*_OF_MODULES, "__future__"})
PATHS: Final = frozenset(
    f"{module}.{name}" for module, names in _OF_MODULES.items() for name in names.split()
)
# At most 60 characters with at most two of * and +, none of them behind a group: what repeats
# within a repeat, or many times in a row, takes forever for a text that does not match.
_ONCE: Final = r"(?:[^*+{]|(?<!\))\{\d\d?\})*"
_SHORT_PATTERN: Final = rf"(?!.{{61}}){_ONCE}(?:(?<!\))[*+]{_ONCE}){{0,2}}"
GROWING_METHODS: Final = frozenset(("append", "extend", "insert"))
# They may only be called: ``max(rows, key=rows.append)`` never ends.
_CALLED: Final = (LiteralArgument("", place=None),)
LITERALS: Final[Mapping[str, tuple[LiteralArgument, ...]]] = {
    f"re.{name}": (LiteralArgument(_SHORT_PATTERN, keywords=("pattern",)),)
    for name in _MATCHING.split()
} | dict.fromkeys(GROWING_METHODS, _CALLED)
"""Arguments that have to be written out, as in `PlainNames.literals`."""
# They read attributes by name, look up a codec, which is a module, or make bytes of any size.
_NOT_PLAIN: Final = {"encode", "format", "format_map", "to_bytes", "from_bytes"}
_TYPES: Final = (str, list, dict, set, frozenset, tuple, int, float, complex, range, slice)
_OF_RESULTS: Final = """
    args date day days end extendleft findall finditer fullmatch group groupdict groups hour
    isoformat match microsecond minute month most_common move_to_end pattern popleft appendleft
    rotate search second seconds span start strftime sub subtract sum time timestamp total
    total_seconds weekday year
"""
_METHODS: Final = {name for kind in _TYPES for name in dir(kind) if not name.startswith("_")}
NAMES: Final = frozenset(
    _METHODS.union(_OF_MODULES["random"].split(), _OF_RESULTS.split()) - _NOT_PLAIN
)
"""The attributes of texts, numbers and collections, and of what the modules above make."""
KEYWORDS_OF_FILES: Final = frozenset(
    ("directory", "file", "filename", "filepath", "folder", "path", "url")
)
"""Names of arguments that would take a file."""
