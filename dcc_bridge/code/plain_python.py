"""Lists what plain code may use of Python: builtins, modules that only compute, and methods.

What an application adds, its leaf lists in a `dcc_bridge.verbs.plain_names.PlainNames`. Any thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_BUILTINS: Final = """
    False True None NotImplemented Ellipsis abs all any bin bool callable chr complex dict divmod
    enumerate filter float format frozenset hex id int isinstance iter len list map max min next oct
    ord pow print range repr reversed round set slice sorted str sum tuple zip
    ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError
    NotImplementedError OverflowError ReferenceError RuntimeError StopIteration TypeError ValueError
    ZeroDivisionError
"""
BUILTINS: Final = frozenset(_BUILTINS.split())
_OF_MODULES: Final[Mapping[str, str]] = {
    "math": """
        acos acosh asin asinh atan atan2 atanh ceil comb copysign cos cosh degrees dist e erf erfc
        exp expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf
        isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan perm pi pow prod radians
        remainder sin sinh sqrt tan tanh tau trunc""",
    "cmath": "cos e exp inf log phase pi polar rect sin sqrt tan",
    "random": """
        Random betavariate choice choices expovariate gauss lognormvariate normalvariate
        paretovariate randint random randrange sample seed shuffle triangular uniform
        vonmisesvariate""",
    "itertools": """
        accumulate batched chain combinations combinations_with_replacement compress count cycle
        dropwhile filterfalse groupby islice pairwise permutations product repeat starmap takewhile
        tee zip_longest chain.from_iterable""",
    "functools": "cache cmp_to_key lru_cache partial reduce",
    "collections": "ChainMap Counter OrderedDict defaultdict deque",
    "json": "dumps loads JSONDecodeError",
    "re": """
        ASCII DOTALL I IGNORECASE M MULTILINE S VERBOSE X compile escape findall finditer fullmatch
        match search split sub subn""",
    "string": """
        ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits
        punctuation whitespace""",
    "statistics": """
        fmean geometric_mean harmonic_mean mean median median_high median_low mode pstdev pvariance
        quantiles stdev variance""",
    "fractions": "Fraction",
    "decimal": "Decimal ROUND_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP",
    "datetime": """
        date datetime time timedelta timezone date.today datetime.now datetime.fromisoformat
        datetime.strptime date.fromisoformat timezone.utc""",
    "time": "monotonic perf_counter time",
    "typing": """
        Any Callable Dict Iterable Iterator List Mapping Optional Sequence Set Tuple Union""",
    "copy": "copy deepcopy",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "textwrap": "dedent fill indent shorten wrap",
    "operator": """
        abs add and_ contains eq floordiv ge gt itemgetter le lt mod mul ne neg not_ or_ pos pow sub
        truediv truth xor""",
    "colorsys": "hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb",
}
MODULES: Final = frozenset({*_OF_MODULES, "__future__"})
PATHS: Final = frozenset(
    f"{module}.{name}" for module, names in _OF_MODULES.items() for name in names.split()
)
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
