/// \file
/// Files as tired authors, failing disks and attackers leave them.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace shardlings::fuzz {

/// Changes texts in a few places.
class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  std::string operator()(std::string text);

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::string once(std::string text);
  /// The next number or word after `at` becomes something else.
  static std::string number_replaced(const std::string& text, std::size_t at, const std::string& by);
  /// A line is left out, or stands somewhere else, or twice.
  std::string line_moved(const std::string& text);

  std::mt19937_64 random_;
};

}  // namespace shardlings::fuzz
