#include "report/style.h"

namespace shardlings::report {
namespace {

// SGR parameters (ECMA-48, 8.3.117). Bright colours for blocks: black digits are legible on all of them. No bright
// yellow but as a ground: on white it cannot be read. Warnings are magenta, as those of compilers are.
const char* code_of(Role role) {
  switch (role) {
    case Role::plain: return "";
    case Role::strong: return "1";
    case Role::dim: return "2";
    case Role::good: return "32";
    case Role::bad: return "31";
    case Role::warning: return "35";
    case Role::place: return "36";
    case Role::forward: return "94";
    case Role::backward: return "92";
    case Role::weights: return "96";
    case Role::update: return "33";
    case Role::operation:
    case Role::transfer:
    case Role::memory: return "37";
    case Role::hue0: return "94";
    case Role::hue1: return "33";
    case Role::hue2: return "96";
    case Role::hue3: return "95";
    case Role::hue4: return "92";
  }
  return "";
}

const char* ground_of(Role role) {
  switch (role) {
    case Role::forward: return "30;104";
    case Role::backward: return "30;102";
    case Role::weights: return "30;106";
    case Role::update: return "30;43";
    case Role::operation:
    case Role::transfer: return "30;47";
    case Role::hue0: return "30;104";
    case Role::hue1: return "30;43";
    case Role::hue2: return "30;106";
    case Role::hue3: return "30;105";
    case Role::hue4: return "30;102";
    default: return "7";
  }
}

std::string dressed(const char* code, std::string_view text) {
  if (*code == '\0' || text.empty()) return std::string(text);
  return std::string("\x1b[") + code + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace

Role role_of_hue(int hue) {
  return static_cast<Role>(static_cast<int>(Role::hue0) + hue % kHues);
}

std::string Style::operator()(Role role, std::string_view text) const {
  return colour_ == Colour::none ? std::string(text) : dressed(code_of(role), text);
}

std::string Style::on(Role role, std::string_view text) const {
  return colour_ == Colour::none ? std::string(text) : dressed(ground_of(role), text);
}

}  // namespace shardlings::report
