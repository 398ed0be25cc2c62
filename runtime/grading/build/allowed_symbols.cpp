#include "grading/build/allowed_symbols.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace shardlings::grading::build {
namespace {

using std::string_view;

/// In order, as the other lists here. A test compares them with the headers and with what the library exports.
constexpr string_view kPublicNames[] = {"Aborted",
                                        "AdamStep",
                                        "AttentionPart",
                                        "AttentionShare",
                                        "Axis",
                                        "Batch",
                                        "BlockProfile",
                                        "ConstView",
                                        "DataRun",
                                        "Draws",
                                        "DroppedLayer",
                                        "Entry",
                                        "Error",
                                        "ExpertShare",
                                        "GradientNorms",
                                        "Grid",
                                        "GridShare",
                                        "Group",
                                        "InvalidArgument",
                                        "LayerCost",
                                        "Layout",
                                        "Linear",
                                        "Location",
                                        "MeasuredRun",
                                        "MicroBatch",
                                        "MisuseError",
                                        "MixedPrecision",
                                        "Model",
                                        "NotImplemented",
                                        "OptimizerState",
                                        "OutOfMemory",
                                        "OuterPlan",
                                        "PlannedJob",
                                        "Range",
                                        "Rank",
                                        "Rectangle",
                                        "Saved",
                                        "ScaledWeights",
                                        "Scaling",
                                        "Shape",
                                        "Stage",
                                        "StageSaved",
                                        "Tensor",
                                        "TrainState",
                                        "TrainingCost",
                                        "TrainingJob",
                                        "Utilization",
                                        "View",
                                        "Work",
                                        "adam",
                                        "adam_async",
                                        "add",
                                        "add_at",
                                        "add_bias",
                                        "add_positions",
                                        "add_squares",
                                        "attention",
                                        "attention_backward",
                                        "axpy",
                                        "block_scales",
                                        "cast",
                                        "cast_into",
                                        "clip_factor",
                                        "clone",
                                        "concat_cols",
                                        "concat_rows",
                                        "copy",
                                        "copy_async",
                                        "cross_entropy",
                                        "dequantize",
                                        "divide_rows",
                                        "dropout",
                                        "embedding",
                                        "embedding_backward_add",
                                        "exp_minus_row",
                                        "fill",
                                        "flag_nonfinite",
                                        "gelu",
                                        "gelu_backward",
                                        "intersect",
                                        "layer_norm",
                                        "layer_norm_backward",
                                        "loss_add",
                                        "matmul",
                                        "matmul_add",
                                        "merge_attention",
                                        "not_implemented",
                                        "partial_attention",
                                        "partial_attention_backward_add",
                                        "pick",
                                        "quantize",
                                        "random_normal",
                                        "relu",
                                        "relu_backward",
                                        "row_max",
                                        "row_sum",
                                        "scale",
                                        "scale_by",
                                        "scale_rows",
                                        "sgd",
                                        "show",
                                        "shuffled",
                                        "slice_cols",
                                        "softmax",
                                        "softmax_backward",
                                        "sum_positions_add",
                                        "sum_rows_add",
                                        "top_k"};

/// Functions of the C library and of the compiler's own libraries.
constexpr string_view kPlainNames[] = {"_Exit",
                                       "_GLOBAL_OFFSET_TABLE_",
                                       "_Unwind_Resume",
                                       "__assert_fail",
                                       "__ctype_b_loc",
                                       "__ctype_tolower_loc",
                                       "__ctype_toupper_loc",
                                       "__cxa_allocate_exception",
                                       "__cxa_atexit",
                                       "__cxa_bad_cast",
                                       "__cxa_bad_typeid",
                                       "__cxa_begin_catch",
                                       "__cxa_call_terminate",
                                       "__cxa_deleted_virtual",
                                       "__cxa_end_catch",
                                       "__cxa_free_exception",
                                       "__cxa_get_exception_ptr",
                                       "__cxa_init_primary_exception",
                                       "__cxa_pure_virtual",
                                       "__cxa_rethrow",
                                       "__cxa_throw",
                                       "__cxa_throw_bad_array_length",
                                       "__cxa_throw_bad_array_new_length",
                                       "__divdc3",
                                       "__divsc3",
                                       "__divti3",
                                       "__dso_handle",
                                       "__dynamic_cast",
                                       "__errno_location",
                                       "__fixdfti",
                                       "__fixsfti",
                                       "__floattidf",
                                       "__floattisf",
                                       "__floatuntidf",
                                       "__floatuntisf",
                                       "__gxx_personality_v0",
                                       "__isoc23_sscanf",
                                       "__isoc23_strtol",
                                       "__isoc23_strtoll",
                                       "__isoc23_strtoul",
                                       "__isoc23_strtoull",
                                       "__isoc99_sscanf",
                                       "__libc_single_threaded",
                                       "__modti3",
                                       "__muldc3",
                                       "__mulsc3",
                                       "__popcountdi2",
                                       "__pthread_key_create",
                                       "__stack_chk_fail",
                                       "__udivti3",
                                       "__umodti3",
                                       "abort",
                                       "abs",
                                       "aligned_alloc",
                                       "atof",
                                       "atoi",
                                       "atol",
                                       "atoll",
                                       "bcmp",
                                       "bsearch",
                                       "calloc",
                                       "div",
                                       "exit",
                                       "fflush",
                                       "fprintf",
                                       "fputc",
                                       "fputs",
                                       "free",
                                       "fwrite",
                                       "isalnum",
                                       "isalpha",
                                       "isblank",
                                       "iscntrl",
                                       "isdigit",
                                       "isgraph",
                                       "islower",
                                       "isprint",
                                       "ispunct",
                                       "isspace",
                                       "isupper",
                                       "isxdigit",
                                       "labs",
                                       "ldiv",
                                       "llabs",
                                       "lldiv",
                                       "malloc",
                                       "memchr",
                                       "memcmp",
                                       "memcpy",
                                       "memmove",
                                       "mempcpy",
                                       "memset",
                                       "posix_memalign",
                                       "printf",
                                       "putc",
                                       "putchar",
                                       "puts",
                                       "qsort",
                                       "quick_exit",
                                       "realloc",
                                       "snprintf",
                                       "sprintf",
                                       "sscanf",
                                       "stderr",
                                       "stdout",
                                       "stpcpy",
                                       "strcat",
                                       "strchr",
                                       "strcmp",
                                       "strcpy",
                                       "strcspn",
                                       "strerror",
                                       "strlen",
                                       "strncat",
                                       "strncmp",
                                       "strncpy",
                                       "strnlen",
                                       "strpbrk",
                                       "strrchr",
                                       "strspn",
                                       "strstr",
                                       "strtod",
                                       "strtof",
                                       "strtol",
                                       "strtold",
                                       "strtoll",
                                       "strtoul",
                                       "strtoull",
                                       "tolower",
                                       "toupper",
                                       "vfprintf",
                                       "vprintf",
                                       "vsnprintf",
                                       "vsprintf",
                                       "vsscanf"};

/// Of mathematics: each also with f or l behind it.
constexpr string_view kMathNames[] = {
    "acos",    "acosh",  "asin",      "asinh",     "atan",       "atan2", "atanh",     "cabs",   "cacos",  "cacosh",
    "carg",    "casin",  "casinh",    "catan",     "catanh",     "cbrt",  "ccos",      "ccosh",  "ceil",   "cexp",
    "cimag",   "clog",   "conj",      "copysign",  "cos",        "cosh",  "cpow",      "cproj",  "creal",  "csin",
    "csinh",   "csqrt",  "ctan",      "ctanh",     "erf",        "erfc",  "exp",       "exp2",   "expm1",  "fabs",
    "fdim",    "floor",  "fma",       "fmax",      "fmin",       "fmod",  "frexp",     "hypot",  "ilogb",  "ldexp",
    "lgamma",  "llrint", "llround",   "log",       "log10",      "log1p", "log2",      "logb",   "lrint",  "lround",
    "modf",    "nan",    "nearbyint", "nextafter", "nexttoward", "pow",   "remainder", "remquo", "rint",   "round",
    "scalbln", "scalbn", "sin",       "sincos",    "sinh",       "sqrt",  "tan",       "tanh",   "tgamma", "trunc"};

/// Of the C++ library: the class or function itself, as what it has. Inline namespaces are left out.
constexpr string_view kLibraryNames[] = {"std::_Fnv_hash_bytes",
                                         "std::_Hash_bytes",
                                         "std::_Rb_tree_decrement",
                                         "std::_Rb_tree_increment",
                                         "std::_Rb_tree_insert_and_rebalance",
                                         "std::_Rb_tree_rebalance_for_erase",
                                         "std::__glibcxx_assert_fail",
                                         "std::__istream_extract",
                                         "std::__ostream_insert",
                                         "std::__replacement_assert",
                                         "std::basic_ios",
                                         "std::basic_ios::clear",
                                         "std::basic_ios::init",
                                         "std::basic_ios::setstate",
                                         "std::cerr",
                                         "std::clog",
                                         "std::cout",
                                         "std::ctype::_M_widen_init",
                                         "std::current_exception",
                                         "std::endl",
                                         "std::ends",
                                         "std::flush",
                                         "std::from_chars",
                                         "std::getline",
                                         "std::ios_base",
                                         "std::ios_base::Init",
                                         "std::ios_base_library_init",
                                         "std::locale",
                                         "std::ls",
                                         "std::nothrow",
                                         "std::rethrow_exception",
                                         "std::rs",
                                         "std::terminate",
                                         "std::to_chars",
                                         "std::uncaught_exception",
                                         "std::uncaught_exceptions",
                                         "std::ws"};

/// Classes of the C++ library of which everything may be used.
constexpr string_view kLibraryClasses[] = {"std::_Sp_make_shared_tag",
                                           "std::__detail::_List_node_base",
                                           "std::__detail::_Prime_rehash_policy",
                                           "std::__exception_ptr",
                                           "std::allocator",
                                           "std::bad_alloc",
                                           "std::bad_array_new_length",
                                           "std::bad_cast",
                                           "std::bad_exception",
                                           "std::bad_function_call",
                                           "std::bad_optional_access",
                                           "std::bad_typeid",
                                           "std::bad_variant_access",
                                           "std::basic_iostream",
                                           "std::basic_istream",
                                           "std::basic_istringstream",
                                           "std::basic_ostream",
                                           "std::basic_ostringstream",
                                           "std::basic_streambuf",
                                           "std::basic_string",
                                           "std::basic_stringbuf",
                                           "std::basic_stringstream",
                                           "std::domain_error",
                                           "std::exception",
                                           "std::invalid_argument",
                                           "std::ios_base::failure",
                                           "std::length_error",
                                           "std::logic_error",
                                           "std::out_of_range",
                                           "std::overflow_error",
                                           "std::range_error",
                                           "std::runtime_error",
                                           "std::type_info",
                                           "std::underflow_error"};

template <std::size_t N>
bool is_one_of(const string_view (&all)[N], string_view name) {
  return std::binary_search(std::begin(all), std::end(all), name);
}
static_assert(std::is_sorted(std::begin(kPublicNames), std::end(kPublicNames)));
static_assert(std::is_sorted(std::begin(kPlainNames), std::end(kPlainNames)));
static_assert(std::is_sorted(std::begin(kMathNames), std::end(kMathNames)));
static_assert(std::is_sorted(std::begin(kLibraryNames), std::end(kLibraryNames)));
static_assert(std::is_sorted(std::begin(kLibraryClasses), std::end(kLibraryClasses)));

bool may_use_plain(string_view name) {
  constexpr string_view kChecked = "_chk";  // __memcpy_chk: with the size of the place where it goes
  if (name.starts_with("__") && name.ends_with(kChecked)) {
    const string_view plain = name.substr(2, name.size() - 2 - kChecked.size());
    if (is_one_of(kPlainNames, plain)) return true;
  }
  return is_one_of(kPlainNames, name) || is_math(name) || name.starts_with("__aarch64_");
}

bool may_use_library(const MangledName& name) {
  std::string path = "std";
  for (std::size_t i = 1; i < name.parts.size(); ++i) {
    const std::string& part = name.parts[i];
    if (part == "__cxx11" || part == "_V2" || part == "__1") continue;
    path += "::" + part;
    if (is_one_of(kLibraryClasses, path)) return true;
    if (i == 1 && part.starts_with("__throw_")) return true;
  }
  return is_one_of(kLibraryNames, path);
}

}  // namespace

bool is_math(string_view name) {
  if (is_one_of(kMathNames, name)) return true;
  return (name.ends_with('f') || name.ends_with('l')) && is_one_of(kMathNames, name.substr(0, name.size() - 1));
}

bool is_public_name(string_view name) {
  return is_one_of(kPublicNames, name);
}

bool may_use(string_view symbol, const MangledName& name) {
  if (!name.is_cpp) return may_use_plain(symbol);
  if (name.parts.empty()) return name.table == "TI" || name.table == "TS";  // of built-in types
  const std::string& outermost = name.parts.front();
  if (outermost == "shardlings") return name.parts.size() >= 2 && is_public_name(name.parts[1]);
  if (outermost == "std") return may_use_library(name);
  if (outermost == "__cxxabiv1") return name.table == "TV";
  if (outermost == "__gnu_cxx") return name.parts.size() >= 2 && name.parts[1].starts_with("__exchange_and_add");
  // operator new and delete, and arrays'
  return outermost == "nw" || outermost == "na" || outermost == "dl" || outermost == "da" ||
         (outermost.size() == 1 && name.table == "TI");
}

}  // namespace shardlings::grading::build
