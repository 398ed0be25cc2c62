/// \file
/// How text looks in a terminal: roles instead of colours, so that every report chooses the same ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardlings::report {

/// Which colours may be used: none (a pipe, NO_COLOR) or the sixteen that every terminal has.
enum class Colour : std::uint8_t { none, sixteen };

/// Which characters may be used.
enum class Charset : std::uint8_t { ascii, unicode };

/// What a piece of text is.
enum class Role : std::uint8_t {
  plain,
  strong,
  dim,
  good,
  bad,
  warning,
  place,
  forward,
  backward,
  update,
  transfer,
  waiting
};

/// Writes text in the colour of its role; without colours the text alone.
class Style {
 public:
  explicit Style(Colour colour) : colour_(colour) {}
  std::string operator()(Role role, std::string_view text) const;

 private:
  Colour colour_;
};

}  // namespace shardlings::report
