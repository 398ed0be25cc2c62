#include "grading/verdict/unit.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/words.h"

namespace shardlings::grading::verdict {
namespace {

constexpr Words<Unit, 3> kUnitWords{{"bytes", "ns", "floating-point operations"}};  // a count has its own

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
  const bool is_one = amount == 1 && name.ends_with('s');
  return fmt::format("{} {}", amount, is_one ? name.substr(0, name.size() - 1) : name);
}

}  // namespace shardlings::grading::verdict
