#include "world/spoken.h"

namespace shardlings::world {

Spoken::Spoken(back::Progress* progress, Hear hear) : progress_(progress) {
  if (progress_ == nullptr) return;
  progress_->on(back::Channel::spoken, [hear = std::move(hear)](int, std::string_view word) { hear(word); });
}

Spoken::~Spoken() {
  if (progress_ != nullptr) progress_->on(back::Channel::spoken, {});
}

void Spoken::to_first(std::string_view word) {
  progress_->locked([&] { progress_->send(0, back::Channel::spoken, word); });
}

void Spoken::to_others(std::string_view word) {
  if (progress_ == nullptr) return;
  progress_->locked([&] {
    for (int process = 1; process < progress_->processes(); ++process) {
      progress_->send(process, back::Channel::spoken, word);
    }
  });
}

}  // namespace shardlings::world
