#include "cli/terminal/pager.h"

#include <cstdlib>
#include <ostream>
#include <string_view>

#include "base/text.h"
#include "cli/system/program.h"
#include "cli/terminal/terminal_mode.h"

namespace shardlings::cli::terminal {
namespace {

/// As git calls it: a command for the shell. An empty one, or cat, means that none is wanted.
bool is_paged(const std::string& text) {
  const char* const named = std::getenv("PAGER");
  const std::string_view pager = named == nullptr ? "less" : named;
  if (pager.empty() || pager == "cat") return false;
  constexpr int kKeepOthers = 0;
  setenv("LESS", "RFX", kKeepOthers);  // colours as they are, and the text stays on the screen
  return system::feed_program({"sh", "-c", std::string(pager)}, text) == 0;
}

}  // namespace

void print_paged(const Context& context, const std::string& text) {
  const bool is_long = std::ssize(lines_of(text)) >= screen_size().rows;
  if (context.interactive && is_long) {
    context.out.flush();
    if (is_paged(text)) return;
  }
  context.out << text;
}

}  // namespace shardlings::cli::terminal
