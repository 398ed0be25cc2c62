#include "api/validate.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "api/enums.h"
#include "base/extents.h"
#include "base/text.h"

namespace shardlings::detail {
namespace {

/// What a number may be, and what it is called if it is not.
struct NumberRule {
  std::int64_t least = 0;
  std::int64_t most = 0;
  const Field* field = nullptr;
};

/// What a verb's fields allow, laid out as a Call is: worked out once, so that checking a call takes no time.
struct Limits {
  int least_tensors = 0, most_tensors = 0;
  int made_like = -1;  ///< position of what is no tensor
  std::array<NumberRule, kMaxNumbers> numbers{};
  int num_numbers = 0;
  bool async = false;

  void add_number(const Field& field, std::int64_t least, std::int64_t most) {
    numbers[static_cast<std::size_t>(num_numbers++)] = {least, most, &field};
  }
};

template <class Int>
void add_all_of(Limits& limits, const Field& field) {
  limits.add_number(field, std::numeric_limits<Int>::min(), std::numeric_limits<Int>::max());
}

void add_field(Limits& limits, const Field& field) {
  switch (field.kind) {
    case FieldKind::made_like: limits.made_like = limits.most_tensors; [[fallthrough]];
    case FieldKind::reads:
    case FieldKind::writes:
    case FieldKind::may_read:
    case FieldKind::may_write:
    case FieldKind::takes:
      ++limits.least_tensors;
      ++limits.most_tensors;
      break;
    case FieldKind::parts: limits.most_tensors = kMaxTensors; break;
    case FieldKind::number: limits.add_number(field, -kMostNumber, kMostNumber); break;
    case FieldKind::range:
      limits.add_number(field, -kMostNumber, kMostNumber);
      limits.add_number(field, -kMostNumber, kMostNumber);
      break;
    case FieldKind::bits: add_all_of<std::int64_t>(limits, field); break;
    case FieldKind::integer: add_all_of<std::int32_t>(limits, field); break;
    case FieldKind::flag: limits.add_number(field, 0, 1); break;
    case FieldKind::choice: limits.add_number(field, 0, field.choices - 1); break;
    case FieldKind::async: limits.async = true; break;
    default: break;
  }
}

const std::array<Limits, kVerbs> kLimits = [] {
  std::array<Limits, kVerbs> all;
  for (int v = 0; v < kVerbs; ++v) {
    Limits& limits = all[static_cast<std::size_t>(v)];
    for (const Field& field : spec_of(static_cast<Verb>(v)).fields) add_field(limits, field);
  }
  return all;
}();

bool has_rank(const Shape& shape) {
  return shape.rank() >= 0 && shape.rank() <= Shape::kMaxDims;
}

bool is_dtype(DType dtype) {
  return static_cast<int>(dtype) < choices_of<DType>();
}

bool is_sound(const Ref& ref) {
  return has_rank(ref.shape) && is_possible(ref.shape) && is_dtype(ref.dtype) && ref.offset >= 0 &&
         ref.offset <= kMostElements && ref.micro >= -1;
}

std::string about_number(const NumberRule& rule, std::int64_t number) {
  if (rule.field->kind == FieldKind::choice) {
    return fmt::format("{} is {}, but {} has {} values", rule.field->name, number, rule.field->type,
                       rule.field->choices);
  }
  return fmt::format("{} is {}, which is not between {} and {}", rule.field->name, number, rule.least, rule.most);
}

}  // namespace

std::optional<std::string> validate(const Call& call) {
  if (static_cast<int>(call.verb) >= kVerbs) return fmt::format("there is no verb {}", static_cast<int>(call.verb));
  const Limits& limits = kLimits[static_cast<std::size_t>(call.verb)];
  if (call.num_tensors < limits.least_tensors || call.num_tensors > limits.most_tensors) {
    return fmt::format("it comes with {} tensors, but takes {} to {}", call.num_tensors, limits.least_tensors,
                       limits.most_tensors);
  }
  if (call.blocking > 1 || (call.blocking == 0 && !limits.async))
    return std::string("it cannot go on beside the program");
  for (int i = 0; i < call.num_tensors; ++i) {
    const Ref& ref = call.tensor[i];
    // What shall be made may have any extents here: that they are impossible is for the learner to hear.
    if (i == limits.made_like ? !has_rank(ref.shape) || !is_dtype(ref.dtype) : !is_sound(ref)) {
      return fmt::format("tensor argument {} is none", i + 1);
    }
  }
  for (int i = 0; i < limits.num_numbers; ++i) {
    const NumberRule& rule = limits.numbers[static_cast<std::size_t>(i)];
    if (call.number[i] < rule.least || call.number[i] > rule.most) return about_number(rule, call.number[i]);
  }
  return std::nullopt;
}

}  // namespace shardlings::detail
