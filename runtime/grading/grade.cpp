#include "grading/grade.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/hash.h"
#include "base/kept_files.h"
#include "base/suggest.h"
#include "case/manifest.h"
#include "grading/build/build_submission.h"
#include "grading/build/toolchain.h"
#include "grading/judge/grader_options.h"
#include "grading/judge/judge.h"
#include "grading/run/process.h"
#include "grading/verdict/kept_runs.h"

namespace shardlings::grading {
namespace {

namespace fs = std::filesystem;

/// Where everything lies.
struct Job {
  const GradeOptions& options;
  build::Toolchain toolchain;
  fs::path puzzle, source;
  std::string id;
  cases::Manifest manifest;
  fs::path folder;  ///< for this content

  fs::path verdict() const { return folder / "verdict.json"; }
  fs::path traces() const { return folder / "traces.bin"; }
};

fs::path normal(const std::string& path) {
  const fs::path full = fs::absolute(path).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

/// The backend and its libraries, which lie beside the runtime.
std::string stamp_of(world::Backend backend, const fs::path& runtime) {
  if (backend == world::Backend::cpu) return name_of(backend);
  const fs::path folder = runtime.parent_path();
  return name_of(backend) + file_stamp(folder / "libshardlings_cuda.so") + file_stamp(folder / "libshardlings_nccl.so");
}

/// Everything that a verdict depends on.
std::string key_of(const Job& job) {
  const build::Toolchain::Puzzle& puzzle = job.toolchain.puzzle(job.id);
  const auto& seed = job.options.seed;
  return content_key({SHARDLINGS_VERSION, job.source.filename().string(), read_whole_file(job.source.string()),
                      read_whole_file((job.puzzle / "puzzle.toml").string()), job.toolchain.text,
                      file_stamp(job.toolchain.library), file_stamp(puzzle.grader), file_stamp(puzzle.harness),
                      job.options.case_name, seed ? std::to_string(*seed) : "as declared",
                      stamp_of(job.options.backend, job.toolchain.library)});
}

void check_case(const cases::Manifest& manifest, const std::string& name) {
  if (name.empty() || manifest.find_case(name)) return;
  std::vector<std::string> known;
  for (const cases::Case& kase : manifest.cases) known.push_back(kase.name);
  throw std::runtime_error(fmt::format("{} has no case '{}'{}", manifest.id, name, suggestion(name, known)));
}

Job make_job(const GradeOptions& options) {
  Job job{options, build::load_toolchain(options.build_folder), normal(options.puzzle_folder), {}, {}, {}, {}};
  job.id = job.puzzle.filename().string();
  job.manifest = cases::load_manifest(job.puzzle.string(), job.toolchain.clusters);
  check_case(job.manifest, options.case_name);
  job.source = options.source.empty() ? job.puzzle / "puzzle.cpp" : normal(options.source);
  if (!fs::exists(job.source)) throw std::runtime_error(fmt::format("there is no file {}", job.source.string()));
  job.folder = normal(options.build_folder) / "graded" / job.id / key_of(job);
  return job;
}

run::ProcessOptions grader_process(const Job& job) {
  judge::GraderOptions grader;
  grader.submission = (job.folder / "submission").string();
  grader.manifest = job.puzzle.string();
  grader.clusters = job.toolchain.clusters;
  grader.verdict = job.verdict().string();
  grader.traces = job.traces().string();
  grader.case_name = job.options.case_name;
  grader.seed = job.options.seed;
  grader.backend = job.options.backend;
  grader.wait_for_submission = true;
  run::ProcessOptions process;
  process.program = job.toolchain.puzzle(job.id).grader;
  process.arguments = judge::to_arguments(grader);
  process.environment =
      capabilities_of(job.options.backend).needs_gpu ? run::gpu_environment("/") : run::clean_environment("/");
  process.folder = job.folder.string();
  process.has_input = true;
  process.limits.wall_seconds = 900;
  return process;
}

/// Builds while the grader computes its references, then lets it run the cases.
verdict::Verdict grade_anew(const Job& job) {
  std::error_code ignored;
  fs::remove(job.verdict(), ignored);
  fs::remove(job.traces(), ignored);
  job.options.progress(Phase::building);
  judge::ProgressReader reader(job.options.cases);
  run::ProcessOptions process = grader_process(job);
  process.on_output = [&reader](std::string_view output) { reader.read(output); };
  run::Process grader(process);
  const build::BuildOutcome outcome = build::build_submission(
      job.toolchain, job.id, job.source.string(), (job.puzzle / "harness.cpp").string(), job.folder.string());
  if (!outcome.built) return judge::did_not_build(job.manifest, outcome.log);
  job.options.progress(Phase::running);
  grader.say("ready\n");
  const run::ProcessEnd end = grader.wait();
  if (!fs::exists(job.verdict())) {
    throw std::runtime_error(
        fmt::format("the grader of {} broke ({}): this is a fault of the puzzle, not of yours\n{}{}", job.id,
                    end.exited ? fmt::format("status {}", end.status) : fmt::format("signal {}", end.signal), end.error,
                    judge::without_progress(end.output)));
  }
  verdict::Verdict verdict = verdict::verdict_from_json(read_whole_file(job.verdict()));
  verdict.build_log = outcome.log;  // warnings
  return verdict;
}

/// The verdict of an earlier time, if it will do. A process that had to wait takes the result made meanwhile, even if
/// it asked for a new grading.
std::optional<verdict::Verdict> graded_before(const Job& job, bool has_waited) {
  if (!fs::exists(job.verdict()) || (!has_waited && !job.options.use_cache)) return std::nullopt;
  verdict::Verdict verdict = verdict::verdict_from_json(read_whole_file(job.verdict()));
  // What did not build is tried again: the fault may have been one of the installation, which is mended by now.
  if (!has_waited && verdict.status == verdict::Status::did_not_build) return std::nullopt;
  fs::last_write_time(job.folder, fs::file_time_type::clock::now());  // the newest ones are kept
  return verdict;
}

}  // namespace

verdict::Verdict grade_puzzle(const GradeOptions& options) {
  constexpr std::size_t kKept = 64;
  const auto begin = std::chrono::steady_clock::now();
  const Job job = make_job(options);
  fs::create_directories(job.folder);
  options.progress(Phase::waiting);
  const FileLock lock(job.folder.string() + kLockSuffix);
  fs::create_directories(job.folder);
  std::optional<verdict::Verdict> before = graded_before(job, lock.waited());
  verdict::Verdict verdict = before ? std::move(*before) : grade_anew(job);
  if (!before) {
    verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    judge::write_verdict(verdict, job.verdict().string());
    prune_folders(job.folder.parent_path().string(), kKept);
  }
  if (options.keep) verdict::keep_run(options.build_folder, job.id, job.folder.string());
  if (options.traces && fs::exists(job.traces())) verdict::read_traces(verdict, job.traces().string());
  options.progress(Phase::done);
  return verdict;
}

}  // namespace shardlings::grading
