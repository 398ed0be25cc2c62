// A program that trains: lines of JSON go out, one for each step; the word to stop comes in.
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "base/dtype.h"
#include "train/trainer.h"

#include "base/file.h"

namespace shardlings::train {
namespace {

using Json = nlohmann::json;

/// One line, at once.
void say(const Json& line) {
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
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

int run(const std::string& settings_file, StepFunction step) {
  const Settings settings = settings_from_json(read_whole_file(settings_file));
  static StopWish wish;
  bool broken = false;
  const Trained trained = train(settings, step, [&](const StepReport& report) {
    broken = !std::isfinite(report.loss);
    say({{"step", report.step},
         {"loss", broken ? Json() : Json(report.loss)},
         {"virtual_ns", report.virtual_time.value()}});
    return !broken && !wish.wished();
  });
  const int last = trained.first_step + static_cast<int>(trained.losses.size());
  const char* end = "finished";
  if (last < settings.kase.steps) end = "stopped";
  if (broken) end = "diverged";
  if (!trained.failure.empty()) end = "failed";
  say({{"end", end},
       {"first_step", trained.first_step},
       {"message", trained.failure},
       {"memory", memory_json(trained)}});
  return 0;
}

}  // namespace

int train_main(int argc, char** argv, StepFunction step) try {
  if (argc != 2) {
    std::fputs("This program trains for ./shardlings train, which starts it.\n", stderr);
    return 2;
  }
  return run(argv[1], step);
} catch (const std::exception& error) {
  say({{"end", "refused"}, {"message", error.what()}});
  return 2;
}

}  // namespace shardlings::train
