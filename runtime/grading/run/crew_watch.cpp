#include "grading/run/crew_watch.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "base/pack.h"
#include "base/parts.h"
#include "grading/run/ending.h"

namespace shardlings::grading::run {
namespace {

using world::pulse::Loss;

std::string ranks_text(const Range& ranks) {
  if (ranks.size() == 0) return "no rank of this case";
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.begin);
  return fmt::format("ranks {} to {}", ranks.begin, ranks.end - 1);
}

std::string what_happened(Loss loss) {
  switch (loss) {
    case Loss::closed: return "has died: it was killed, or its host went down";
    case Loss::silent: return "has not been heard of for 5 s: it was stopped, or its host cannot be reached any more";
    case Loss::never_came: return "was started and has never been heard of";
  }
  return "";
}

std::string advice(Loss loss) {
  if (loss == Loss::never_came) {
    return "Its host must reach this one at any TCP port; ./shardlings doctor shows what is there.";
  }
  return "This is not the program's doing: look at that host, its memory and its link, and run again.";
}

}  // namespace

CrewWatch::CrewWatch(int processes, world::pulse::Pace pace)
    : processes_(processes), said_(static_cast<std::size_t>(processes)) {
  server_ = std::make_unique<world::pulse::Server>(
      processes,
      world::pulse::Server::Told{.said = [this](int process, std::string_view said) { hear(process, said); },
                                 .lost =
                                     [this](int process, Loss loss) {
                                       const MutexLock lock(mutex_);
                                       const wire::ProcessWords& words = said_[static_cast<std::size_t>(process)];
                                       lost_ = {process, loss, words.host, words.pid};
                                     }},
      pace);
}

std::string CrewWatch::variable() const {
  return "SHARDLINGS_PULSE=" + server_->address();
}

void CrewWatch::watch(int file, int ranks) {
  const MutexLock lock(mutex_);
  file_ = file >= 0 ? std::make_unique<wire::MappedFile>(file) : nullptr;
  ranks_ = ranks;
}

std::optional<CrewWatch::Lost> CrewWatch::lost() const {
  const MutexLock lock(mutex_);
  return lost_;
}

void CrewWatch::kill_if_stopped(const std::string& program) const {
  const auto lost = this->lost();
  char own[256] = {};
  gethostname(own, sizeof own - 1);
  if (!lost || lost->loss != Loss::silent || lost->host != own || lost->pid <= 0) return;
  std::error_code error;
  const auto exe = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", lost->pid), error);
  if (!error && std::filesystem::equivalent(exe, program, error)) kill(lost->pid, SIGKILL);
}

void CrewWatch::end_all() {
  server_.reset();
}

void CrewWatch::hear(int process, std::string_view said) try {
  const wire::ProcessWords words = wire::unpack_words(said);
  const MutexLock lock(mutex_);
  wire::ProcessWords& who = said_[static_cast<std::size_t>(process)];
  who.host = words.host;
  who.pid = words.pid;
  if (file_) wire::write_words(words, *file_, ranks_);
} catch (const BadPack&) {
  return;  // it has the learner's code in it, and may say anything
}

ProcessEnd wait_watched(Process& launcher, CrewWatch& watch, const std::string& program) {
  constexpr std::chrono::milliseconds kToEnd{1500};
  const auto give_time = [&] {
    const auto end = std::chrono::steady_clock::now() + kToEnd;
    return !launcher.run_until([&] { return std::chrono::steady_clock::now() > end; });
  };
  if (launcher.run_until([&] { return watch.lost().has_value(); })) {
    watch.kill_if_stopped(program);
    watch.end_all();
    if (!give_time()) launcher.ask_to_end();
    if (!give_time()) launcher.give_up();
  }
  ProcessEnd end = launcher.wait();
  // What the launcher made of it says less than that a process is gone.
  if (watch.lost()) {
    end.exited = false;
    end.signal = SIGKILL;
  }
  return end;
}

std::string loss_text(const CrewWatch::Lost& lost, int processes, int ranks,
                      const std::vector<wire::LastWords>& words) {
  const Range mine = part_of(ranks, processes, lost.process);
  std::string text =
      fmt::format("process {} (of 0 to {}){}, with {}, {}.", lost.process, processes - 1,
                  lost.host.empty() ? "" : " on host " + lost.host, ranks_text(mine), what_happened(lost.loss));
  for (auto rank = mine.begin; !words.empty() && rank < mine.end; ++rank) {
    text += "\n  " + last_words_text(words, static_cast<std::size_t>(rank));
  }
  return text + "\n" + advice(lost.loss);
}

}  // namespace shardlings::grading::run
