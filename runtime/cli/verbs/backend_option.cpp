#include "cli/verbs/backend_option.h"

#include <cstdlib>
#include <ostream>

#include "cli/error.h"
#include "grading/build/toolchain.h"

namespace shardlings::cli::verbs {

using grading::run::BackendChoice;

void add_backend_options(VerbOptions& verb, BackendOptions& options, MpiOptions mpi) {
  verb.text("--backend", options.backend, kBackendMeaning);
  if (mpi == MpiOptions::none) return;
  constexpr Interval kMany = {1, 1 << 20};
  verb.number("-n,--processes", options.mpi.processes, "with mpi: processes, over which the ranks are divided", kMany);
  verb.number("--ranks-per-process", options.mpi.ranks_per_process, "with mpi: the same, by the ranks of each", kMany);
  verb.text("--hostfile", options.mpi.hostfile,
            "with mpi: a file of hosts and their slots; without it: this one, or a job's");
}

BackendChoice chosen_backend(const Context& context, const BackendOptions& options,
                             const std::vector<cases::Case>& cases) {
  if (options.mpi.processes > 0 && options.mpi.ranks_per_process > 0) {
    throw UsageError("--processes and --ranks-per-process say the same in two ways: leave one of them out.");
  }
  grading::run::BackendWish wish{options.backend, options.mpi, world::mpi_surroundings(&std::getenv)};
  if (const char* variable = std::getenv("SHARDLINGS_BACKEND"); wish.word.empty() && variable) wish.word = variable;
  if (wish.word.empty()) wish.word = "cpu";
  const std::string probe = wish.word == "cpu" ? "" : grading::build::load_toolchain(context.project.build).gpu_probe;
  BackendChoice choice = grading::run::choose_backend(wish, probe, cases);
  if (choice.backend == grading::run::Backend::mpi && wish.around.number > 0) throw AnotherDoesIt();
  if (!choice.why.empty()) context.err << choice.why << '\n';
  return choice;
}

}  // namespace shardlings::cli::verbs
