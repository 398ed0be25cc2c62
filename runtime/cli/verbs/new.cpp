#include <ostream>

#include "cli/author/scaffold.h"
#include "cli/error.h"
#include "cli/verbs.h"

namespace shardlings::cli::verbs {

int new_puzzle(const Context& context, const NewOptions& options) {
  for (const std::string& path : author::make_puzzle(context.project, options.puzzle)) {
    context.out << context.paint(report::Role::place, system::shown_path(path)) << '\n';
  }
  context.out << "\nEvery " << author::kBlank << " marks something for you to write. How: docs/authors/puzzles.md.\n"
              << "Then: ./shardlings verify " << options.puzzle << '\n';
  return kPassed;
}

}  // namespace shardlings::cli::verbs
