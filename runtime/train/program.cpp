// A program that trains: lines of JSON go out, one for each step; the word to stop comes in.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/dtype.h"
#include "base/file.h"
#include "base/machine_fault.h"
#include "submission/crash_notes.h"
#include "submission/crew_pulse.h"
#include "submission/supervisors_file.h"
#include "submission/wire/memory_file.h"
#include "train/trainer.h"
#include "world/use_backend.h"

namespace shardlings::train {
namespace {

using Json = nlohmann::json;

/// What stands before each line that this program says, so that none that the learner's code prints is taken for one.
std::string g_mark;  // NOLINT: set before the ranks start
/// Of several processes one speaks.
bool g_speaks = true;  // NOLINT: likewise

/// One line, at once.
void say(const Json& line) {
  if (!g_speaks) return;
  const std::string text = g_mark + line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

constexpr const char* kFault = "fault";  // the machine's

int gave_up(const std::string& why) {
  say({{"end", kFault}, {"message", why}});
  return 3;
}

/// Becomes true when a line has come. Closing the input asks for nothing.
class StopWish {
 public:
  StopWish() {
    std::thread([this] {
      char letter;
      if (read(STDIN_FILENO, &letter, 1) == 1) wished_ = true;
    }).detach();  // it may wait for ever, and ends with the process
  }
  bool wished() const { return wished_; }

 private:
  std::atomic<bool> wished_{false};
};

Json memory_json(const Trained& trained) {
  Json kinds = Json::object();
  for (int kind = 0; kind < kNumKinds; ++kind) {
    kinds[name_of(static_cast<Kind>(kind))] = trained.peak_by_kind[static_cast<std::size_t>(kind)].value();
  }
  return {{"peak", trained.peak.value()}, {"by_kind", kinds}};
}

/// What the processes have that mpirun has started together.
struct Crew {
  back::Progress& progress;
  submission::CrewPulse& pulse;
};

/// Notes where the ranks are, and where one crashes, for the supervisor.
class Notes {
 public:
  /// In its file, of a process that it has started itself.
  Notes(int file, StepFunction step) : Notes(std::make_unique<wire::MappedFile>(file), nullptr, step) {}
  /// In its file if that is to be had, or else in one of which the pulse tells.
  Notes(const submission::SupervisorsFile& file, const Crew& crew, StepFunction step)
      : Notes(nullptr, std::make_unique<submission::NotesFile>(file, crew.pulse, crew.progress), step) {}
  RankWatch watch() {
    return {&box_, [this](int rank) { notes_.watch_this_thread(rank); },
            [this](int rank) { notes_.leave_this_thread(rank); }};
  }

 private:
  Notes(std::unique_ptr<wire::MappedFile> direct, std::unique_ptr<submission::NotesFile> told, StepFunction step)
      : direct_(std::move(direct)),
        told_(std::move(told)),
        box_(file().black_box()),
        notes_(file().header().crash, box_, program_of(step)) {
    file().header().hello = wire::FileHeader::kHello;
  }
  wire::MappedFile& file() { return told_ ? told_->mapped() : *direct_; }
  static const void* program_of(StepFunction step) {
    Dl_info info = {};
    return dladdr(reinterpret_cast<const void*>(step), &info) != 0 ? info.dli_fbase : nullptr;
  }

  std::unique_ptr<wire::MappedFile> direct_;
  std::unique_ptr<submission::NotesFile> told_;
  front::BlackBox box_;
  submission::CrashNotes notes_;
};

/// Where the notes go; nullptr: there is no room for any. `file`: of a process that the supervisor has started its
/// descriptor, of one that mpirun has started its path.
std::unique_ptr<Notes> notes_in(const std::string& file, StepFunction step, const Crew* crew) {
  if (crew == nullptr) return file.empty() ? nullptr : std::make_unique<Notes>(std::atoi(file.c_str()), step);
  submission::SupervisorsFile of;
  if (crew->progress.process() == 0 && !file.empty()) of = submission::supervisors_file(file);
  of = submission::file_from(world::from_first(crew->progress, to_bytes(of)));
  return of.path.empty() ? nullptr : std::make_unique<Notes>(of, *crew, step);
}

int run(const std::string& settings_file, const std::string& notes_file, StepFunction step, const Crew* crew) {
  back::Progress* progress = crew != nullptr ? &crew->progress : nullptr;
  const bool is_first = g_speaks = progress == nullptr || progress->process() == 0;
  std::string text = is_first ? read_whole_file(settings_file) : "";
  if (progress != nullptr) text = world::from_first(*progress, text);
  const Settings settings = settings_from_json(text);
  bool broken = false;
  const std::unique_ptr<Notes> notes = notes_in(notes_file, step, crew);
  if (!is_first) {
    train(
        settings, step, [](const StepReport&) { return true; }, notes ? notes->watch() : RankWatch(), progress);
    return 0;
  }
  static StopWish wish;
  const auto after_step = [&](const StepReport& report) {
    broken = !std::isfinite(report.loss);
    say({{"step", report.step},
         {"loss", broken ? Json() : Json(report.loss)},
         {"virtual_ns", report.virtual_time.value()}});
    return !broken && !wish.wished();
  };
  const Trained trained = train(settings, step, after_step, notes ? notes->watch() : RankWatch(), progress);
  const int last = trained.first_step + static_cast<int>(trained.losses.size());
  const char* end = "finished";
  if (last < settings.kase.steps) end = "stopped";
  if (broken) end = "diverged";
  if (!trained.failure.empty()) end = "failed";
  if (!trained.fault.empty()) end = kFault;
  say({{"end", end},
       {"first_step", trained.first_step},
       {"message", trained.fault.empty() ? trained.failure : trained.fault},
       {"memory", memory_json(trained)}});
  return 0;
}

/// The same in several processes, which mpirun has started.
int run_together(const std::string& settings_file, const std::string& notes_file, StepFunction step) {
  submission::CrewPulse pulse;
  int status = 0;
  try {
    world::Options options;
    use_backend(options, world::Backend::mpi);
    const Crew crew{*options.progress, pulse};
    status = run(settings_file, notes_file, step, &crew);
  } catch (const std::bad_alloc&) {
    pulse.tell_fault(advice_on(ENOMEM));
    throw;
  } catch (const std::exception& error) {
    pulse.tell_fault(error.what());  // the first process says it better, but others can throw, too
    throw;
  }
  leave_backend(world::Backend::mpi);
  pulse.farewell();
  return status;
}

}  // namespace

int train_main(int argc, char** argv, StepFunction step) try {
  if (argc < 2 || argc > 5) {
    std::fputs("This program trains for ./shardlings train, which starts it.\n", stderr);
    return 2;
  }
  if (argc > 3) g_mark = argv[3];
  const std::string notes = argc > 2 ? argv[2] : "";
  return argc == 5 ? run_together(argv[1], notes, step) : run(argv[1], notes, step, nullptr);
} catch (const std::bad_alloc&) {
  return gave_up(advice_on(ENOMEM));
} catch (const MachineFault& error) {
  return gave_up(error.what());
} catch (const std::system_error& error) {
  return gave_up(with_advice("the training could not begin", error.code().value()));
} catch (const std::exception& error) {
  say({{"end", "refused"}, {"message", error.what()}});
  return 2;
}

}  // namespace shardlings::train
