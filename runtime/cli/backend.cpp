#include "cli/backend.h"

#include <cstdlib>
#include <ostream>

#include "grading/toolchain.h"

namespace shardlings::cli {

grading::Backend chosen_backend(const Context& context, const std::string& wish,
                                const std::vector<grading::Case>& cases) {
  std::string word = wish;
  if (const char* variable = std::getenv("SHARDLINGS_BACKEND"); word.empty() && variable) word = variable;
  if (word.empty() || word == "cpu") return grading::Backend::cpu;
  const std::string probe = grading::load_toolchain(context.project.build).gpu_probe;
  const grading::BackendChoice choice = grading::choose_backend(word, probe, cases);
  if (!choice.why.empty()) context.err << choice.why << '\n';
  return choice.backend;
}

}  // namespace shardlings::cli
