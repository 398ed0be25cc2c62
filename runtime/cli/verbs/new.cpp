#include <ostream>

#include "cli/author/scaffold.h"
#include "cli/error.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct NewOptions {
  std::string puzzle;  ///< "50_my_puzzle"
  bool question = false;
};

}  // namespace

/// `new`: for authors: a puzzle from the template.
static int new_puzzle(const Context& context, const NewOptions& options) {
  system::refuse_in_handout(context.project, "new");
  const author::Asks asks = options.question ? author::Asks::a_question : author::Asks::for_ranks;
  for (const std::string& path : author::make_puzzle(context.project, options.puzzle, asks)) {
    context.out << context.paint(report::Role::place, system::shown_path(path)) << '\n';
  }
  context.out << "\nEvery " << author::kBlank << " marks something for you to write. How: docs/authors/puzzles.md.\n"
              << "Then: ./shardlings verify " << options.puzzle << '\n';
  return kPassed;
}

void add_new_puzzle(CommandLine& line) {
  auto [options, verb] = line.verb<NewOptions>("new", "for authors: a puzzle from the template", new_puzzle);
  verb.required("PUZZLE", options.puzzle, "its folder's name, such as 50_my_puzzle");
  verb.flag("--question", options.question, "its function answers a question about plain data, and has no ranks");
}

}  // namespace shardlings::cli::verbs
