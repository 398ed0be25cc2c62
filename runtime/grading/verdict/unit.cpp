#include "grading/verdict/unit.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/words.h"

namespace shardlings::grading::verdict {
namespace {

constexpr Words<Unit, 3> kUnitWords{{"bytes", "ns", "floating-point operations"}};  // a count has its own

/// "call" of "calls", "micro-batch" of "micro-batches".
std::string singular(const std::string& name) {
  for (const char* ending : {"ches", "shes", "xes", "sses"}) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - 2);
  }
  return name.ends_with('s') ? name.substr(0, name.size() - 1) : name;
}

}  // namespace

std::string name_of(Unit unit, const std::string& counted) {
  return unit == Unit::count ? counted : kUnitWords.of(unit);
}

Unit unit_named(const std::string& name) {
  return kUnitWords.find(name).value_or(Unit::count);
}

std::string amount_text(std::int64_t amount, Unit unit, const std::string& counted) {
  if (unit == Unit::bytes) return to_text(Bytes(amount));
  if (unit == Unit::ns) return to_text(Nanos(amount));
  const std::string name = name_of(unit, counted);
  if (name.empty()) return std::to_string(amount);
  return fmt::format("{} {}", amount, amount == 1 ? singular(name) : name);
}

}  // namespace shardlings::grading::verdict
