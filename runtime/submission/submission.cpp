#include "submission/submission.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "api/access.h"
#include "base/machine_fault.h"
#include "base/memory_limits.h"
#include "base/sanitizers.h"
#include "boundary/broker/jails.h"
#include "boundary/thrown.h"
#include "submission/crash_notes.h"
#include "submission/crew.h"
#include "submission/run_options.h"
#include "submission/wire/memory_file.h"
#include "submission/wire/result_pack.h"
#include "world/use_backend.h"

namespace shardlings::submission {
namespace {

/// No solution of a puzzle makes a thousand calls on a rank, or leaves many more records. So many of every rank still
/// fit in memory, and take a second or two.
constexpr std::int64_t kEndless = 20'000;
/// A simulation is of models as large as there are.
constexpr std::int64_t kEndlessSimulated = 2'000'000;

const void* program_of(HarnessFunction harness) {
  Dl_info info = {};
  return dladdr(reinterpret_cast<const void*>(harness), &info) != 0 ? info.dli_fbase : nullptr;
}

/// Address space of each jail: a solution's own data are small, since tensors are the runtime's. All together get as
/// much as one could fill that has all ranks in it, so that many ranks do not fill the machine.
std::int64_t jail_bytes(int ranks) {
  constexpr std::int64_t kTogether = std::int64_t{1} << 30, kLeast = std::int64_t{128} << 20;
  return kAddressSanitizer || kThreadSanitizer ? 0 : std::max(kTogether / ranks, kLeast);
}

/// Crashes of this thread are noted as the rank's.
class Watched {
 public:
  Watched(CrashNotes& notes, int rank) : notes_(notes), rank_(rank) { notes_.watch_this_thread(rank_); }
  ~Watched() { notes_.leave_this_thread(rank_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  CrashNotes& notes_;
  int rank_;
};

/// A run of one case, in this process or with jails.
struct Run {
  wire::MappedFile& file;
  HarnessFunction harness;
  cases::Case kase = cases::case_from_json(std::string(file.case_text()));
  front::BlackBox box = file.black_box();
  world::Options options = options_of(kase);
  std::shared_ptr<model::SharedStructures> structures = std::make_shared<model::SharedStructures>(kase.model);

  void prepare(world::Backend backend) {
    if (box.ranks != kase.ranks) throw std::runtime_error("the case and the file disagree on the number of ranks");
    options.poison_empty = true;
    options.endless = capabilities_of(backend).computes ? kEndless : kEndlessSimulated;
    options.black_box = &box;
    options.on_fault = [this](const back::Fault& fault) {
      if (fault.no_memory) {
        file.header().note_exhausted(wire::FileHeader::kExhausted, *fault.no_memory);
      } else if (file.header().exhausted == 0) {
        file.header().note_fault(fault.what);
      }
    };
    use_backend(options, backend);
  }
  /// Of several processes the first one has it.
  bool has_whole_report() const { return options.progress == nullptr || options.progress->process() == 0; }
  void run(const std::function<void(Rank&)>& body) {
    const front::RunReport report = world::run(options, body);
    if (!has_whole_report()) return;
    // A rank on another host has noted that in a file of its own.
    if (report.failure && report.failure->no_memory) {
      file.header().note_exhausted(wire::FileHeader::kExhausted, *report.failure->no_memory);
    }
    const bool exhausted = file.header().exhausted != 0;  // which may be its own doing
    const std::string fault = first_machine_fault();      // of any process
    if (report.failure && !exhausted && !fault.empty()) file.header().note_fault(fault);
    file.finish(wire::pack_report(report));
  }
};

/// One rank's part: that the host's memory ran out is told apart from other exceptions.
void run_harness(Rank& rank, const Run& run) {
  pthread_setname_np(pthread_self(), fmt::format("rank {}", rank.id()).c_str());  // as a debugger shows it
  try {
    Harness of_rank(rank, run.kase, run.structures);
    if (run.kase.question) {
      // What is measured is over before anybody is asked: nothing counts, and in a jail no call is let in.
      of_rank.begin();
      of_rank.end();
    }
    run.harness(of_rank);
  } catch (const boundary::NoMemoryInJail&) {
    run.file.header().note_exhausted(wire::FileHeader::kJailExhausted, memory_limits_here());
    throw;
  } catch (const std::bad_alloc&) {
    run.file.header().note_exhausted(wire::FileHeader::kExhausted, memory_limits_here());
    throw;
  }
}

/// The same with the learner's code in this process: an empty tensor, which does not say whose it is, finds its rank.
void run_beside(Rank& rank, const Run& run) {
  const detail::PortOfThisThread here(*detail::Access::port(rank));
  run_harness(rank, run);
}

/// One thread runs all ranks, by turns.
void run_on_one_thread(Run& run) {
  CrashNotes notes(run.file.header().crash, run.box, program_of(run.harness));
  notes.watch_all_on_this_thread();
  run.run([&](Rank& rank) { run_beside(rank, run); });
}

void run_here(Run& run) {
  CrashNotes notes(run.file.header().crash, run.box, program_of(run.harness));
  run.run([&](Rank& rank) {
    const Watched watched(notes, rank.id());
    run_beside(rank, run);
  });
}

/// What a broker is told of jails.
struct JailArguments {
  std::string program;  ///< with the learner's code, which one process runs for each rank
  int least_tier = 0;
  std::string source;  ///< base name of the learner's file
};

void run_with_jails(Run& run, const JailArguments& jail) {
  const std::int64_t each = jail_bytes(run.kase.ranks);
  boundary::Jails jails({.program = jail.program,
                         .source = jail.source,
                         .ranks = run.kase.ranks,
                         .least_tier = jail.least_tier,
                         .memory_bytes = each,
                         // So that a jail that asks for too much hears so, and is not killed for it.
                         .memory_of_all = 2 * each * run.kase.ranks},
                        run.file.header().crash, run.file.header().jail_peak);
  run.file.header().walls = jails.walls();
  run.file.header().jail_bytes = each;
  run.run([&](Rank& rank) {
    const boundary::OnThisThread here(jails.of(rank.id()), rank);
    run_harness(rank, run);
  });
}

/// What is thrown here is not a rank's: memory that the run has used up, or what the machine or the runtime lacks.
int run_or_tell(wire::MappedFile& file, world::Backend backend, HarnessFunction harness,
                const std::optional<JailArguments>& jail) try {
  Run run{file, harness};
  run.prepare(backend);
  if (jail) {
    run_with_jails(run, *jail);
  } else {
    capabilities_of(backend).computes ? run_here(run) : run_on_one_thread(run);
  }
  return 0;
} catch (const std::bad_alloc&) {
  file.header().note_exhausted(wire::FileHeader::kExhausted, memory_limits_here());
  throw;
} catch (const std::exception& error) {
  file.header().note_fault(error.what());
  throw;
}

}  // namespace

int submission_main(int argc, char** argv, HarnessFunction harness) try {
  const auto backend = argc == 3 || argc == 6 ? world::backend_from(argv[2]) : std::nullopt;
  if (!backend) {
    std::fputs("This is a compiled puzzle; ./shardlings run starts it.\n", stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what was printed before a crash is what one wants to see
  if (std::string_view(argv[1]) == kCrew) {
    return serve_cases(*backend, [&](wire::MappedFile& file) { run_or_tell(file, *backend, harness, std::nullopt); });
  }
  wire::MappedFile file(std::atoi(argv[1]));
  file.header().hello = wire::FileHeader::kHello;
  std::optional<JailArguments> jail;
  if (argc == 6) jail = {argv[3], std::atoi(argv[4]), argv[5]};
  return run_or_tell(file, *backend, harness, jail);
} catch (const std::exception& error) {
  std::fprintf(stderr, "shardlings: %s\n", error.what());
  return 1;
}

}  // namespace shardlings::submission
