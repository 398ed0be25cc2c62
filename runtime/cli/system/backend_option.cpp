#include "cli/system/backend_option.h"

#include <cstdlib>
#include <ostream>

#include "grading/build/toolchain.h"

namespace shardlings::cli::system {

grading::run::Backend chosen_backend(const Context& context, const std::string& wish,
                                     const std::vector<cases::Case>& cases) {
  std::string word = wish;
  if (const char* variable = std::getenv("SHARDLINGS_BACKEND"); word.empty() && variable) word = variable;
  if (word.empty() || word == "cpu") return grading::run::Backend::cpu;
  const std::string probe = grading::build::load_toolchain(context.project.build).gpu_probe;
  const grading::run::BackendChoice choice = grading::run::choose_backend(word, probe, cases);
  if (!choice.why.empty()) context.err << choice.why << '\n';
  return choice.backend;
}

}  // namespace shardlings::cli::system
