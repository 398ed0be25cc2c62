#include "front/trace/failure.h"

#include <array>

namespace shardlings::front {
namespace {

// By FailureKind.
constexpr std::array kFailureNames{"mismatch",      "deadlock",         "desertion",       "race",      "leak",
                                   "out_of_memory", "invalid_argument", "not_implemented", "exception", "hang"};
static_assert(kFailureNames.size() == static_cast<std::size_t>(FailureKind::hang) + 1);

}  // namespace

const char* name_of(FailureKind kind) {
  return kFailureNames[static_cast<std::size_t>(kind)];
}

std::optional<FailureKind> failure_kind_from(std::string_view name) {
  for (std::size_t i = 0; i < kFailureNames.size(); ++i) {
    if (name == kFailureNames[i]) return static_cast<FailureKind>(i);
  }
  return std::nullopt;
}

}  // namespace shardlings::front
