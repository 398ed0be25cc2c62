#include "grading/grade.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/hash.h"
#include "base/kept_files.h"
#include "base/machine_fault.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/version.h"
#include "case/manifest.h"
#include "grading/build/build_submission.h"
#include "grading/build/call_lines.h"
#include "grading/build/source_copy.h"
#include "grading/build/toolchain.h"
#include "grading/build_fault.h"
#include "grading/judge/grader_options.h"
#include "grading/judge/judge.h"
#include "grading/run/mpirun.h"
#include "grading/run/process.h"
#include "grading/verdict/kept_runs.h"

namespace shardlings::grading {
namespace {

namespace fs = std::filesystem;

/// Where everything lies.
struct Job {
  const GradeOptions& options;
  build::Toolchain toolchain;
  fs::path puzzle;
  build::SourceCopy source;  ///< from now on, whatever becomes of the file
  std::string id;
  cases::Manifest manifest;
  fs::path folder;  ///< for this content

  build::Form form() const { return options.jailed ? build::Form::jail : build::Form::program; }
  fs::path verdict() const { return folder / "verdict.json"; }
  fs::path traces() const { return folder / "traces.bin"; }
  fs::path kept_source() const { return folder / verdict::kKeptSource; }
};

fs::path normal(const std::string& path) {
  const fs::path full = fs::absolute(path).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

/// The backend and its libraries, which lie beside the runtime.
std::string stamp_of(world::Backend backend, const fs::path& runtime) {
  if (backend == world::Backend::cpu) return name_of(backend);
  const fs::path folder = runtime.parent_path();
  return name_of(backend) + file_stamp(folder / "libshardlings_cuda.so") +
         file_stamp(folder / "libshardlings_nccl.so") + file_stamp(folder / "libshardlings_mpi.so");
}

/// Everything that a verdict depends on. How processes are started should change nothing, and is a part of it even so:
/// who asks for other hosts wants to see whether they work.
std::string key_of(const Job& job) {
  const build::Toolchain::Puzzle& puzzle = job.toolchain.puzzle(job.id);
  const auto& seed = job.options.seed;
  return content_key(
      {version(), job.source.name, job.source.text, read_whole_file((job.puzzle / "puzzle.toml").string()),
       job.toolchain.text, file_stamp(job.toolchain.library), file_stamp(puzzle.grader), file_stamp(puzzle.harness),
       file_stamp(puzzle.beside), job.options.jailed ? file_stamp(puzzle.broker) : "",
       std::to_string(job.options.least_tier), fmt::format("{}", fmt::join(job.options.case_names, "\n")),
       seed ? std::to_string(*seed) : "as declared", fmt::format("{}", fmt::join(job.options.set, " ")),
       stamp_of(job.options.backend, job.toolchain.library), job.options.mpi});
}

void check_case(const cases::Manifest& manifest, const std::string& name) {
  if (manifest.find_case(name)) return;
  std::vector<std::string> known;
  for (const cases::Case& kase : manifest.cases) known.push_back(kase.name);
  throw std::runtime_error(fmt::format("{} has no case '{}'{}", manifest.id, name, suggestion(name, known)));
}

Job make_job(const GradeOptions& options) {
  Job job{options, build::load_toolchain(options.build_folder), normal(options.puzzle_folder), {}, {}, {}, {}};
  job.id = job.puzzle.filename().string();
  job.manifest = cases::load_manifest(job.puzzle.string(), job.toolchain.clusters);
  for (const std::string& name : options.case_names) check_case(job.manifest, name);
  if (options.jailed && options.backend != world::Backend::cpu) {
    throw std::runtime_error(
        fmt::format("jails are there on the CPU alone, and the backend is {}", name_of(options.backend)));
  }
  job.source =
      build::copy_source((options.source.empty() ? job.puzzle / "puzzle.cpp" : normal(options.source)).string());
  const fs::path graded = normal(options.build_folder) / "graded" / job.id;
  // What a secret has made is for nobody to find, not even under a name that could be guessed from it.
  job.folder = graded / (options.secret.empty() ? key_of(job) : fmt::format("secret.{}", getpid()));
  return job;
}

run::ProcessOptions grader_process(const Job& job) {
  judge::GraderOptions grader;
  const std::string made = (job.folder / build::program_name(job.form())).string();
  grader.submission = job.options.jailed ? job.toolchain.puzzle(job.id).broker : made;
  grader.jail = job.options.jailed ? made : "";
  grader.least_tier = job.options.least_tier;
  grader.source = job.source.name;
  grader.manifest = job.puzzle.string();
  grader.clusters = job.toolchain.clusters;
  grader.verdict = job.verdict().string();
  grader.traces = job.traces().string();
  grader.case_names = job.options.case_names;
  grader.seed = job.options.seed;
  grader.set = job.options.set;
  grader.backend = job.options.backend;
  grader.mpi = job.options.mpi;
  grader.wait_for_submission = true;
  grader.secret_on_input = !job.options.secret.empty();
  run::ProcessOptions process;
  process.program = job.toolchain.puzzle(job.id).grader;
  process.arguments = judge::to_arguments(grader);
  process.environment =
      capabilities_of(job.options.backend).needs_gpu ? run::gpu_environment("/") : run::clean_environment("/");
  if (capabilities_of(job.options.backend).processes) process.environment = run::launcher_environment(environ);
  process.folder = job.folder.string();
  process.has_input = true;
  process.limits.wall_seconds = 900;
  return process;
}

/// Why a grader ended without its last word.
std::string why_broken(const Job& job, const run::ProcessEnd& end) {
  if (!end.started) return with_advice(fmt::format("the grader of {} could not be started", job.id), end.error_number);
  if (end.killed == run::Kill::wall_limit) {
    return fmt::format("the grader of {} took too long and was stopped. Try again when the machine has less to do.",
                       job.id);
  }
  if (end.signal == SIGKILL) {
    return fmt::format(
        "the system killed the grader of {}: most likely the machine's memory has run out. End other programs, or give "
        "the container more memory.",
        job.id);
  }
  if (end.signal == SIGXFSZ)
    return with_advice(fmt::format("the grader of {} could not write its files", job.id), EFBIG);
  const std::string how = end.exited ? fmt::format("status {}", end.status) : fmt::format("signal {}", end.signal);
  std::string said;
  for (const std::string& line : lines_of(judge::without_progress(end.output))) {
    if (!line.empty() && !line.starts_with('[')) said += (said.empty() ? "" : "\n") + line;  // those are GoogleTest's
  }
  return fmt::format("the grader of {} broke ({}): this is a fault of the puzzle or of the machine, not of yours.{}{}",
                     job.id, how, said.empty() ? "" : "\n", said);
}

/// What the grader has written, if that can be read.
std::optional<verdict::Verdict> written_verdict(const Job& job) try {
  if (!fs::exists(job.verdict())) return std::nullopt;
  return verdict::verdict_from_json(read_whole_file(job.verdict()));
} catch (const std::runtime_error&) {
  return std::nullopt;
}

/// The verdict of a grader that has ended. Only one that has ended by itself is believed; of another one what it kept
/// of the cases that had ended is shown.
verdict::Verdict verdict_after(const Job& job, const run::ProcessEnd& end) {
  std::optional<verdict::Verdict> verdict = written_verdict(job);
  const bool is_whole = end.started && end.exited && (end.status <= 1 || end.status == judge::kNotJudged);
  if (is_whole && verdict) return *std::move(verdict);
  const std::string why = why_broken(job, end);
  if (!verdict) return judge::not_judged(job.manifest, why);
  verdict->status = verdict::Status::not_judged;
  verdict->passed = false;
  verdict->points = 0;
  verdict->reason = why;
  return *std::move(verdict);
}

/// Builds while the grader computes its references, then lets it run the cases.
verdict::Verdict grade_anew(const Job& job) {
  std::error_code ignored;
  fs::remove_all(job.verdict(), ignored);
  fs::remove_all(job.traces(), ignored);
  job.options.progress(Phase::building);
  judge::ProgressReader reader(job.options.cases);
  run::ProcessOptions process = grader_process(job);
  process.on_output = [&reader](std::string_view output) { reader.read(output); };
  run::Process grader(process);
  if (!job.options.secret.empty()) grader.say(job.options.secret + "\n");
  build::BuildOptions how;
  how.form = job.form();
  const build::BuildOutcome outcome = build::build_submission(
      job.toolchain, job.id, job.source, (job.puzzle / "harness.cpp").string(), job.folder.string(), how);
  if (!outcome.built) {
    const std::string fault = build_fault(outcome.log);
    return fault.empty() ? judge::did_not_build(job.manifest, outcome.log) : judge::not_judged(job.manifest, fault);
  }
  job.options.progress(Phase::running);
  grader.say(judge::ready_line(build::call_lines(job.source.text)));
  verdict::Verdict verdict = verdict_after(job, grader.wait());
  verdict.build_log = outcome.log;  // warnings
  return verdict;
}

/// The verdict of an earlier time, if it will do. A process that had to wait takes the result made meanwhile, even if
/// it asked for a new grading. What is damaged is made anew.
std::optional<verdict::Verdict> graded_before(const Job& job, bool has_waited) {
  if (!has_waited && !job.options.use_cache) return std::nullopt;
  std::optional<verdict::Verdict> verdict = written_verdict(job);
  if (!verdict || verdict->puzzle != job.id) return std::nullopt;
  // What did not build is tried again: the fault may have been one of the installation, which is mended by now.
  const bool may_differ =
      verdict->status == verdict::Status::did_not_build || verdict->status == verdict::Status::not_judged;
  if (!has_waited && may_differ) return std::nullopt;
  try {
    if (job.options.traces && fs::exists(job.traces())) verdict::read_traces(*verdict, job.traces().string());
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  std::error_code ignored;
  fs::last_write_time(job.folder, fs::file_time_type::clock::now(), ignored);  // the newest ones are kept
  return verdict;
}

/// What is done for later is worth no verdict: whatever goes wrong is told.
void try_to(const Job& job, const char* what, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    job.options.warn(fmt::format("{} ({}).", what, error.what()));
  }
}

/// Removes what a grading with a secret has left, at its end.
class Forgetting {
 public:
  explicit Forgetting(const Job& job) : job_(job) {}
  ~Forgetting() {
    std::error_code ignored;
    if (job_.options.secret.empty()) return;
    fs::remove_all(job_.folder, ignored);
    fs::remove(job_.folder.string() + kLockSuffix, ignored);
  }
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;

 private:
  const Job& job_;
};

/// Where the grading works, and keeps its verdict for the next time.
void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return;
  throw MachineFault(with_advice(
      fmt::format("the folder that gradings are kept in cannot be made, {}", folder.string()), error.value()));
}

verdict::Verdict grade(const Job& job) {
  constexpr std::size_t kKept = 64;
  const auto begin = std::chrono::steady_clock::now();
  make_folder(job.folder);
  const Forgetting forgetting(job);
  const FileLock lock(job.folder.string() + kLockSuffix);
  make_folder(job.folder);
  std::optional<verdict::Verdict> before = graded_before(job, lock.waited());
  verdict::Verdict verdict = before ? std::move(*before) : grade_anew(job);
  if (!before) {
    verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    try_to(job, "The verdict could not be kept for the next time", [&] {
      write_file_atomically(job.kept_source().string(), job.source.text);
      judge::write_verdict(verdict, job.verdict().string());
      prune_folders(job.folder.parent_path().string(), kKept);
    });
    try_to(job, "The traces of the run cannot be read", [&] {
      if (job.options.traces && fs::exists(job.traces())) verdict::read_traces(verdict, job.traces().string());
    });
  }
  if (job.options.keep && job.options.secret.empty() && verdict.status != verdict::Status::not_judged) {
    try_to(job, "The run could not be kept for ./shardlings view and hint",
           [&] { verdict::keep_run(job.options.build_folder, job.id, job.folder.string()); });
  }
  return verdict;
}

/// What went wrong, with what to do.
std::string reason_of(const std::string& what) {
  const std::string advice = advice_in(what);
  return fmt::format("{}. {}", what, advice.empty() ? "What is missing on this machine: ./shardlings doctor." : advice);
}

}  // namespace

verdict::Verdict grade_puzzle(const GradeOptions& options) {
  const Job job = make_job(options);
  options.progress(Phase::waiting);
  verdict::Verdict verdict;
  try {
    verdict = grade(job);
  } catch (const std::bad_alloc&) {
    verdict = judge::not_judged(job.manifest, advice_on(ENOMEM));
  } catch (const MachineFault& error) {
    verdict = judge::not_judged(job.manifest, error.what());
  } catch (const std::exception& error) {
    verdict = judge::not_judged(job.manifest, reason_of(error.what()));
  }
  options.progress(Phase::done);
  return verdict;
}

}  // namespace shardlings::grading
