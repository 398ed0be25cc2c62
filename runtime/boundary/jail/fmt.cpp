// The parts of fmt that are not templates, and the templates that it expects to find beside them, for programs that are
// linked statically. fmt's own library is made of the same header.
#include <fmt/format-inl.h>

namespace fmt::detail {

template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;

}  // namespace fmt::detail
