#include "case/case_numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

#include "base/suggest.h"
#include "model/structure.h"

namespace shardlings::cases {
namespace {

/// How one of the numbers that every case has is set.
using Setter = std::function<void(Case&, double)>;

template <class Field>
Setter whole(Field Case::*field) {
  return [field](Case& kase, double value) { kase.*field = static_cast<Field>(value); };
}

template <class Field>
Setter of_model(Field model::ModelSpec::*field) {
  return [field](Case& kase, double value) { kase.model.*field = static_cast<Field>(value); };
}

Setter of_table(Nanos front::CallTable::*field) {
  return [field](Case& kase, double value) { kase.cluster.table.*field = Nanos(static_cast<std::int64_t>(value)); };
}

const std::map<std::string, Setter>& of_every_case() {
  static const std::map<std::string, Setter> setters = {{"batch", whole(&Case::batch)},
                                                        {"micro_batches", whole(&Case::micro_batches)},
                                                        {"steps", whole(&Case::steps)},
                                                        {"latency_ns",
                                                         [](Case& kase, double value) {
                                                           for (front::LinkSpeed& link : kase.cluster.links)
                                                             link.latency = Nanos(static_cast<std::int64_t>(value));
                                                         }},
                                                        {"bytes_per_second", [](Case& kase, double value) {
                                                           for (front::LinkSpeed& link : kase.cluster.links)
                                                             link.bytes_per_second = value;
                                                         }}};
  return setters;
}

/// Those that a case has only if it has a model.
const std::map<std::string, Setter>& of_models() {
  static const std::map<std::string, Setter> setters = {{"layers", of_model(&model::ModelSpec::layers)},
                                                        {"hidden", of_model(&model::ModelSpec::hidden)},
                                                        {"outputs", of_model(&model::ModelSpec::outputs)},
                                                        {"sequence", of_model(&model::ModelSpec::sequence)},
                                                        {"heads", of_model(&model::ModelSpec::heads)},
                                                        {"forward_ns", of_table(&front::CallTable::forward)},
                                                        {"backward_ns", of_table(&front::CallTable::backward)},
                                                        {"backward_weights_ns", [](Case& kase, double value) {
                                                           kase.cluster.table.backward_weights =
                                                               Nanos(static_cast<std::int64_t>(value));
                                                         }}};
  return setters;
}

const Setter* setter_of(const Case& kase, const std::string& name) {
  if (const auto found = of_every_case().find(name); found != of_every_case().end()) return &found->second;
  if (!kase.has_model()) return nullptr;
  const auto found = of_models().find(name);
  return found == of_models().end() ? nullptr : &found->second;
}

[[noreturn]] void refuse(const Case& kase, const NamedNumber& number, const std::string& why) {
  throw std::runtime_error(
      fmt::format("the case '{}' cannot have {} = {}: {}", kase.name, number.name, number.value, why));
}

/// Zero is a latency, and nothing else; all but a bandwidth are whole.
void check_value(const Case& kase, const NamedNumber& number) {
  const bool may_be_nothing = number.name.ends_with("_ns");
  if (number.value < 0 || (number.value == 0 && !may_be_nothing)) refuse(kase, number, "it must be more than 0");
  if (number.value > 1e15) refuse(kase, number, "it is too large");
  if (number.name != "bytes_per_second" && number.value != std::floor(number.value)) {
    refuse(kase, number, "it must be a whole number");
  }
}

/// The model must still be one.
void check_model(const Case& kase, const NamedNumber& number) {
  if (!kase.has_model()) return;
  try {
    model::make_structure(kase.model);
  } catch (const std::invalid_argument& error) {
    refuse(kase, number, error.what());
  }
}

}  // namespace

NamedNumber number_from(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  NamedNumber number{text.substr(0, equals), 0};
  const char* end = text.data() + text.size();
  const auto read = equals == std::string::npos ? std::from_chars_result{text.data(), std::errc::invalid_argument}
                                                : std::from_chars(text.data() + equals + 1, end, number.value);
  if (read.ec != std::errc{} || read.ptr != end || equals == 0 || !std::isfinite(number.value)) {
    throw std::runtime_error(fmt::format("{} takes NAME=NUMBER, not '{}'", option, text));
  }
  return number;
}

std::vector<std::string> names_of_numbers(const Case& kase) {
  std::vector<std::string> names;
  for (const auto& [name, value] : kase.numbers) names.push_back(name);
  for (const auto& [name, setter] : of_every_case()) names.push_back(name);
  for (const auto& [name, setter] : of_models()) {
    if (kase.has_model()) names.push_back(name);
  }
  return names;
}

void set_number(Case& kase, const NamedNumber& number) {
  if (const auto own = kase.numbers.find(number.name); own != kase.numbers.end()) {
    own->second = number.value;
    return;
  }
  const Setter* setter = setter_of(kase, number.name);
  if (setter == nullptr) {
    throw std::runtime_error(fmt::format("the case '{}' has no number '{}'{}", kase.name, number.name,
                                         suggestion(number.name, names_of_numbers(kase))));
  }
  check_value(kase, number);
  (*setter)(kase, number.value);
  check_model(kase, number);
  if (kase.cluster.table.weights_part() > kase.cluster.table.backward) {
    refuse(kase, number, "backward_weights_ns is a part of backward_ns, and cannot be more");
  }
}

}  // namespace shardlings::cases
