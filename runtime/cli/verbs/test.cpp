#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/system/program.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct TestOptions {
  std::string filter;  ///< ctest's --tests-regex; empty: all
};

}  // namespace

/// `test`: builds and runs the project's own tests.
static int test(const Context& context, const TestOptions& options) {
  const std::string& build = context.project.build;
  context.out << "Building the project's own tests." << std::endl;
  if (system::run_program({"cmake", "--build", build}) != 0) {
    context.err << "The tests do not build; the messages are above.\n";
    return kFailed;
  }
  const unsigned jobs = std::max(2u, std::thread::hardware_concurrency());
  // The learner's puzzles have the label puzzle and are not meant here: unsolved, they would fail.
  std::vector<std::string> command = {
      "ctest",      "--test-dir",           build, "-L", "own", "--no-tests=error", "--output-on-failure",
      "--parallel", fmt::format("{}", jobs)};
  if (!options.filter.empty()) command.insert(command.end(), {"--tests-regex", options.filter});
  return system::run_program(command) == 0 ? kPassed : kFailed;
}

void add_test(CommandLine& line) {
  auto [options, verb] = line.verb<TestOptions>("test", "the project's own tests", test);
  verb.text("-R,--tests-regex", options.filter, "only tests with such a name");
}

}  // namespace shardlings::cli::verbs
