#include <ostream>

#include "base/version.h"
#include "cli/error.h"
#include "cli/grammar/man_page.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct ManOptions {};

}  // namespace

/// `man`: the page for man, in roff.
static int man(const Context& context, const ManOptions&) {
  context.out << grammar::man_page(context.grammar(), version());
  return kPassed;
}

void add_man(CommandLine& line) {
  line.verb<ManOptions>("man", "the page for man: ./shardlings man | man -l -", man);
}

}  // namespace shardlings::cli::verbs
