/// \file
/// The other side of a Port, for one who hands on what calls say that come from another process.
#pragma once

#include <string>
#include <string_view>

#include "api/port.h"

namespace shardlings::detail {

struct PortServer {
  static Reply answer(Port& port, const Call& call) { return port.answer(call); }
  static TextId define(Port& port, std::string_view text) { return port.define(text); }
  static std::string text_of(Port& port, TextId id) { return port.text_of(id); }
  static std::string error_text(Port& port) { return port.error_text(); }
  /// Throws the error that the last reply tells.
  [[noreturn]] static void raise(Port& port, const Reply& reply) { port.raise(reply); }
};

}  // namespace shardlings::detail
