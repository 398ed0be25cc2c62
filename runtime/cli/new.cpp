#include <ostream>

#include "cli/error.h"
#include "cli/scaffold.h"
#include "cli/verbs.h"

namespace shardlings::cli {

int new_puzzle(const Context& context, const NewOptions& options) {
  for (const std::string& path : make_puzzle(context.project, options.puzzle)) {
    context.out << context.paint(report::Role::place, shown_path(path)) << '\n';
  }
  context.out << "\nEvery " << kBlank << " marks something for you to write. How: docs/authors/puzzles.md.\n"
              << "Then: ./shardlings verify " << options.puzzle << '\n';
  return kPassed;
}

}  // namespace shardlings::cli
