#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"
#include "cli/error.h"
#include "cli/grammar/completion.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct CompletionOptions {
  std::string shell;
};

}  // namespace

/// `completion`: the script that a shell completes the command with.
static int completion(const Context& context, const CompletionOptions& options) {
  const std::vector<std::string>& known = grammar::shells();
  if (std::find(known.begin(), known.end(), options.shell) == known.end()) {
    throw UsageError(fmt::format("There is no completion for \"{}\".{} It is there for {}.", options.shell,
                                 did_you_mean(options.shell, known), fmt::join(known, ", ")));
  }
  context.out << grammar::completion_for(options.shell, context.grammar());
  return kPassed;
}

void add_completion(CommandLine& line) {
  auto [options, verb] =
      line.verb<CompletionOptions>("completion", "completion for your shell, to be sourced", completion);
  verb.required("SHELL", options.shell, "bash, zsh or fish");
}

}  // namespace shardlings::cli::verbs
