#include "cli/terminal/train_conversation.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace shardlings::cli::terminal {

void TrainConversation::listen(std::string_view output) {
  constexpr std::size_t kLongest = 1 << 16;  // a line of the program's own is far shorter
  pending_.append(output);
  std::size_t done = 0;
  for (auto end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n', done)) {
    take(std::string_view(pending_).substr(done, end - done));
    done = end + 1;
  }
  pending_.erase(0, done);
  if (pending_.size() <= kLongest) return;
  add_printed(pending_);
  pending_.clear();
}

void TrainConversation::add_printed(std::string_view text) {
  printed_ += static_cast<std::int64_t>(text.size()) + 1;
  report_.add_output(std::string(text));
}

TrainReport& TrainConversation::finish() {
  line_.end();
  return report_;
}

bool TrainConversation::is_silent(Clock::time_point since) const {
  constexpr std::chrono::seconds kLeast{5};
  constexpr int kTimes = 4;
  const MutexLock lock(mutex_);
  return Clock::now() - std::max(since, last_step_) > std::max<Clock::duration>(kLeast, kTimes * longest_step_);
}

void TrainConversation::note_step() {
  const MutexLock lock(mutex_);
  longest_step_ = std::max(longest_step_, Clock::now() - last_step_);
  last_step_ = Clock::now();
}

void TrainConversation::take(std::string_view line) {
  const std::size_t at = line.find(mark_);
  if (at != 0) add_printed(line.substr(0, at));
  if (at == std::string_view::npos) return;
  const auto said = nlohmann::json::parse(line.substr(at + mark_.size()), nullptr, false);
  if (!said.is_object()) {
    add_printed(line);
  } else if (said.contains("end")) {
    report_.end(said);
  } else {
    note_step();
    printed_ = 0;
    report_.add_step(said);
    if (!quiet_) line_.show(report_.progress());
  }
}

}  // namespace shardlings::cli::terminal
