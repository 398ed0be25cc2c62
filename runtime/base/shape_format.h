/// \file
/// Shapes as arguments of a format: the text is made only where it is needed.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "shardlings/tensor.h"

/// \cond
template <>
struct fmt::formatter<shardlings::Shape> : fmt::formatter<std::string> {
  auto format(const shardlings::Shape& shape, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(shardlings::to_text(shape), context);
  }
};
/// \endcond
