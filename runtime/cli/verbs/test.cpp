#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/learner/build_log.h"
#include "cli/system/program.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct TestOptions {
  std::string filter;  ///< ctest's --tests-regex; empty: all
};

}  // namespace

/// `test`: builds and runs the project's own tests. What a learner has written is no part of them.
static int test(const Context& context, const TestOptions& options) {
  system::refuse_in_handout(context.project, "test");
  const std::string& build = context.project.build;
  context.out << "Building the project's own tests." << std::endl;
  // One puzzle that does not build must not stop the tests of all the rest (-k 0): the start script has noted which it
  // is.
  const bool is_whole = system::run_program({"cmake", "--build", build, "--", "-k", "0"}) == 0;
  const auto faulty = is_whole ? std::vector<learner::BuildFailure>() : learner::build_failures(context.project);
  if (!is_whole && faulty.empty()) {
    context.err << "The tests do not build; the messages are above.\n";
    return kFailed;
  }
  for (const learner::BuildFailure& puzzle : faulty) {
    context.err << fmt::format("The {} of the puzzle {} does not build: {}\n", puzzle.part, puzzle.id, puzzle.reason);
  }
  if (!is_whole) context.err << "The tests go on without it; those that need it fail." << std::endl;
  const unsigned jobs = std::max(2u, std::thread::hardware_concurrency());
  // The learner's puzzles have the label puzzle and are not meant here: unsolved, they would fail.
  std::vector<std::string> command = {
      "ctest",      "--test-dir",           build, "-L", "own", "--no-tests=error", "--output-on-failure",
      "--parallel", fmt::format("{}", jobs)};
  if (!options.filter.empty()) command.insert(command.end(), {"--tests-regex", options.filter});
  const bool is_good = system::run_program(command) == 0;
  return is_good && is_whole ? kPassed : kFailed;
}

void add_test(CommandLine& line) {
  auto [options, verb] = line.verb<TestOptions>("test", "the project's own tests", test);
  verb.text("-R,--tests-regex", options.filter, "only tests with such a name");
}

}  // namespace shardlings::cli::verbs
