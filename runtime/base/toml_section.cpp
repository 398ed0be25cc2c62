#include "base/toml_section.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "base/suggest.h"

namespace shardlings {

void TomlSection::has_only(const std::vector<std::string>& keys) {
  known_ = std::set<std::string>(keys.begin(), keys.end());
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (known_.contains(name)) continue;
    const std::vector<std::string> known(known_.begin(), known_.end());
    wrong(name, fmt::format("unknown key '{}'{}", name, suggestion(name, known)));
  }
}

const toml::node* TomlSection::find(const std::string& key) const {
  if (!known_.contains(key)) throw std::logic_error(fmt::format("{}: '{}' is not among the known keys", what_, key));
  return table_.get(key);
}

void TomlSection::fail(const std::string& key, const std::string& message) const {
  const toml::node* node = table_.get(key);
  const auto line = node ? node->source().begin.line : table_.source().begin.line;
  throw std::runtime_error(fmt::format("{}:{}: {}", file_, line, message));
}

void TomlSection::wrong(const std::string& key, const std::string& message) const {
  fail(key, what_.empty() ? message : what_ + ": " + message);
}

std::string TomlSection::text(const std::string& key) {
  const toml::node* node = find(key);
  if (!node) wrong(key, fmt::format("'{}' is missing", key));
  const auto value = node->value_exact<std::string>();
  if (!value) wrong(key, fmt::format("'{}' must be a text in quotes", key));
  return *value;
}

std::string TomlSection::text_or(const std::string& key, const std::string& fallback) {
  return find(key) ? text(key) : fallback;
}

bool TomlSection::flag_or(const std::string& key, bool fallback) {
  const toml::node* node = find(key);
  if (!node) return fallback;
  const auto value = node->value_exact<bool>();
  if (!value) wrong(key, fmt::format("'{}' must be true or false", key));
  return *value;
}

std::int64_t TomlSection::integer(const std::string& key, std::int64_t least) {
  const toml::node* node = find(key);
  if (!node) wrong(key, fmt::format("'{}' is missing", key));
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < least) wrong(key, fmt::format("'{}' must be a whole number of at least {}", key, least));
  return *value;
}

std::int64_t TomlSection::integer_or(const std::string& key, std::int64_t fallback, std::int64_t least) {
  return find(key) ? integer(key, least) : fallback;
}

int TomlSection::small(const std::string& key, int least) {
  constexpr int kMost = std::numeric_limits<int>::max();
  const std::int64_t value = integer(key, least);
  if (value > kMost) wrong(key, fmt::format("'{}' must be a whole number of at most {}", key, kMost));
  return static_cast<int>(value);
}

int TomlSection::small_or(const std::string& key, int fallback, int least) {
  return find(key) ? small(key, least) : fallback;
}

double TomlSection::number(const std::string& key, const toml::node& node, double least) const {
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !(*value >= least)) wrong(key, fmt::format("'{}' must be a number of at least {}", key, least));
  return *value;
}

double TomlSection::number_or(const std::string& key, double fallback, double least) {
  const toml::node* node = find(key);
  return node ? number(key, *node, least) : fallback;
}

std::vector<std::string> TomlSection::texts_or_none(const std::string& key) {
  std::vector<std::string> texts;
  const toml::node* node = find(key);
  if (!node) return texts;
  const toml::array* list = node->as_array();
  if (!list) wrong(key, fmt::format("'{}' must be a list of texts", key));
  for (const toml::node& item : *list) {
    const auto value = item.value_exact<std::string>();
    if (!value) wrong(key, fmt::format("'{}' must be a list of texts", key));
    texts.push_back(*value);
  }
  return texts;
}

std::vector<std::int64_t> TomlSection::integers_or_none(const std::string& key, std::int64_t least) {
  std::vector<std::int64_t> integers;
  const toml::node* node = find(key);
  if (!node) return integers;
  const toml::array* list = node->as_array();
  const std::string wanted = fmt::format("'{}' must be a list of whole numbers of at least {}", key, least);
  if (!list) wrong(key, wanted);
  for (const toml::node& item : *list) {
    const auto value = item.value_exact<std::int64_t>();
    if (!value || *value < least) wrong(key, wanted);
    integers.push_back(*value);
  }
  return integers;
}

std::optional<TomlSection> TomlSection::section(const std::string& key) {
  const toml::node* node = find(key);
  if (!node) return std::nullopt;
  const toml::table* table = node->as_table();
  if (!table) wrong(key, fmt::format("'{}' must be a table, {{ … }}", key));
  return TomlSection(*table, file_, key);
}

std::vector<TomlSection> TomlSection::sections(const std::string& key) {
  std::vector<TomlSection> sections;
  const toml::node* node = find(key);
  if (!node) return sections;
  const toml::array* list = node->as_array();
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    if (const toml::table* table = list->get(i)->as_table()) {
      sections.emplace_back(*table, file_, fmt::format("[[{}]]", key));
    }
  }
  if (!list || sections.size() != list->size()) fail(key, fmt::format("'{0}' is written as [[{0}]]", key));
  return sections;
}

std::vector<std::pair<std::string, double>> TomlSection::all_numbers() {
  std::vector<std::pair<std::string, double>> numbers;
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    numbers.emplace_back(name, number(name, node, -1e300));
  }
  return numbers;
}

std::map<std::string, std::vector<double>> TomlSection::all_lists() {
  std::map<std::string, std::vector<double>> lists;
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    const toml::array* list = node.as_array();
    if (!list) wrong(name, fmt::format("'{}' must be a list of numbers", name));
    std::vector<double>& numbers = lists[name];
    for (const toml::node& item : *list) numbers.push_back(number(name, item, -1e300));
  }
  return lists;
}

}  // namespace shardlings
