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

/// What a piece of text is. The roles from `forward` on are those of a timeline.
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
  weights,
  update,
  operation,
  transfer,
  memory,
  // One for each layer or stage, in turn: role_of_hue().
  hue0,
  hue1,
  hue2,
  hue3,
  hue4
};
inline constexpr int kHues = 5;
/// The role of layer or stage `hue` (0, 1, …).
Role role_of_hue(int hue);

/// Writes text in the colour of its role; without colours the text alone.
class Style {
 public:
  Style(Colour colour, Charset charset) : colour_(colour), charset_(charset) {}

  std::string operator()(Role role, std::string_view text) const;
  /// The same on a ground of the role's colour: a number inside a block.
  std::string on(Role role, std::string_view text) const;
  /// The form of a character for this terminal.
  const char* pick(const char* unicode, const char* ascii) const {
    return charset_ == Charset::unicode ? unicode : ascii;
  }
  Charset charset() const { return charset_; }
  bool coloured() const { return colour_ != Colour::none; }

 private:
  Colour colour_;
  Charset charset_;
};

}  // namespace shardlings::report
