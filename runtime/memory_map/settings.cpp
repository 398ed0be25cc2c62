#include "memory_map/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace shardlings::memory_map {
namespace {

[[noreturn]] void refuse(const char* what, const char* allowed, const std::string& text) {
  throw std::invalid_argument(fmt::format("{} takes {}, not '{}'", what, allowed, text));
}

int size_in(const std::string& key, const std::string& value) {
  constexpr std::int64_t kMost = 1 << 20;
  const std::int64_t size = whole_number(key, value, 1);
  if (size > kMost) throw std::invalid_argument(fmt::format("{} can be {} at most, not {}", key, kMost, value));
  return static_cast<int>(size);
}

void set_group(Parallel& parallel, const std::string& key, const std::string& value) {
  if (key == "dp") {
    parallel.dp = size_in(key, value);
  } else if (key == "shard") {
    parallel.shard = size_in(key, value);
  } else if (key == "tp") {
    parallel.tp = size_in(key, value);
  } else if (key == "pp") {
    parallel.pp = size_in(key, value);
  } else if (key == "v") {
    parallel.virtual_stages = size_in(key, value);
  } else if (key == "sp") {
    if (value != "0" && value != "1") refuse("sp", "0 or 1", value);
    parallel.sp = value == "1";
  } else if (key == "zero") {
    const std::int64_t stage = whole_number(key, value, 0);
    if (stage > 3) refuse("zero", "a stage from 0 to 3", value);
    parallel.zero = static_cast<int>(stage);
  } else {
    refuse("--parallel", "dp, zero, shard, tp, sp, pp and v", key);
  }
}

}  // namespace

std::int64_t whole_number(const std::string& key, const std::string& value, std::int64_t least) {
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || rest != end || number < least) {
    throw std::invalid_argument(fmt::format("{} takes a whole number from {} on, not '{}'", key, least, value));
  }
  return number;
}

std::vector<std::pair<std::string, std::string>> key_values(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    if (item.empty() || equals == 0) {
      throw std::invalid_argument(fmt::format("'{}' is not a list such as dp=64,zero=3", text));
    }
    const bool alone = equals == std::string::npos;
    pairs.emplace_back(item.substr(0, equals), alone ? "1" : item.substr(equals + 1));
    begin = end + 1;
  }
  return pairs;
}

Precision precision_of(const std::string& name) {
  if (name == "mixed") return {name, 2, 2, 4, 2};
  if (name == "mixed-f32-grads") return {name, 2, 4, 4, 2};
  if (name == "f32") return {name, 4, 4, 0, 4};
  refuse("--precision", "mixed, mixed-f32-grads or f32", name);
}

Count moments_of(const std::string& name) {
  if (name == "adam") return 8;
  if (name == "momentum") return 4;
  if (name == "sgd") return 0;
  refuse("--optimizer", "adam, momentum or sgd", name);
}

Recompute recompute_of(const std::string& name) {
  if (const auto recompute = model::kRecomputeWords.find(name)) return *recompute;
  refuse("--recompute", "off, full or selective", name);
}

KeptBy kept_by_of(const std::string& name) {
  if (name == "megatron") return KeptBy::megatron;
  if (name == "shardlings") return KeptBy::shardlings;
  refuse("--kept-by", "megatron or shardlings", name);
}

Parallel parallel_of(const std::string& text) {
  Parallel parallel;
  for (const auto& [key, value] : key_values(text)) set_group(parallel, key, value);
  return parallel;
}

}  // namespace shardlings::memory_map
