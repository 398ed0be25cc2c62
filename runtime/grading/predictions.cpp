#include "grading/predictions.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "base/machine_fault.h"
#include "base/text.h"
#include "grading/build/toolchain.h"
#include "grading/judge/grader_options.h"
#include "grading/run/process.h"

namespace shardlings::grading {

verdict::Predictions ask_for_predictions(const std::string& puzzle_folder, const std::string& build_folder,
                                         verdict::When when) {
  const std::filesystem::path folder = std::filesystem::absolute(puzzle_folder).lexically_normal();
  const std::string id = folder.filename().string();
  const build::Toolchain toolchain = build::load_toolchain(build_folder);
  judge::GraderOptions options;
  options.manifest = folder.string();
  options.clusters = toolchain.clusters;
  options.predictions = when;
  run::ProcessOptions process;
  process.program = toolchain.puzzle(id).grader;
  process.arguments = judge::to_arguments(options);
  process.environment = run::clean_environment("/");
  process.limits.wall_seconds = 60;
  const run::ProcessEnd end = run::run_process(process);
  if (!end.started) {
    throw MachineFault(with_advice(fmt::format("the grader of {} could not be started", id), end.error_number));
  }
  if (!end.exited || end.status != 0) {
    throw MachineFault(
        fmt::format("the grader of {} cannot say what there is to predict: {}", id, trimmed(end.output)));
  }
  return verdict::predictions_from_json(end.output);
}

}  // namespace shardlings::grading
