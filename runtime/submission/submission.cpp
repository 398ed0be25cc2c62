#include "submission/submission.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "submission/crash_notes.h"
#include "submission/run_options.h"
#include "submission/wire/memory_file.h"
#include "submission/wire/result_pack.h"
#include "world/backend.h"

namespace shardlings::submission {
namespace {

const void* program_of(HarnessFunction harness) {
  Dl_info info = {};
  return dladdr(reinterpret_cast<const void*>(harness), &info) != 0 ? info.dli_fbase : nullptr;
}

/// One rank's part: crashes are noted, and that the host's memory ran out is told apart from other exceptions.
void run_harness(Rank& rank, const cases::Case& kase, HarnessFunction harness, CrashNotes& notes,
                 wire::FileHeader& header) {
  notes.watch_this_thread(rank.id());
  struct Leave {
    CrashNotes& notes;
    int rank;
    ~Leave() { notes.leave_this_thread(rank); }
  } leave{notes, rank.id()};
  try {
    Harness of_rank(rank, kase);
    harness(of_rank);
  } catch (const std::bad_alloc&) {
    header.exhausted = wire::FileHeader::kExhausted;
    throw;
  }
}

void run(wire::MappedFile& file, world::Backend backend, HarnessFunction harness) {
  const cases::Case kase = cases::case_from_json(std::string(file.case_text()));
  front::BlackBox box = file.black_box();
  if (box.ranks != kase.ranks) throw std::runtime_error("the case and the file disagree on the number of ranks");
  CrashNotes notes(file.header().crash, box, program_of(harness));
  world::Options options = options_of(kase);
  options.poison_empty = true;
  options.black_box = &box;
  use_backend(options, backend);
  const front::RunReport report =
      world::run(options, [&](Rank& rank) { run_harness(rank, kase, harness, notes, file.header()); });
  file.finish(wire::pack_report(report));
}

}  // namespace

int submission_main(int argc, char** argv, HarnessFunction harness) try {
  const auto backend = argc == 3 ? world::backend_from(argv[2]) : std::nullopt;
  if (!backend) {
    std::fputs("This is a compiled puzzle; ./shardlings run starts it.\n", stderr);
    return 2;
  }
  wire::MappedFile file(std::atoi(argv[1]));
  file.header().hello = wire::FileHeader::kHello;
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what was printed before a crash is what one wants to see
  run(file, *backend, harness);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "shardlings: %s\n", error.what());
  return 1;
}

}  // namespace shardlings::submission
