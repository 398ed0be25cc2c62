#include "back/fabric/nccl/communicators.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace shardlings::back::nccl {
namespace {

/// Messages move little; a few channels leave the multiprocessors to the computation.
constexpr int kChannelsOfPair = 2;

}  // namespace

Communicators::~Communicators() {
  for (auto& [key, communicator] : made_) {
    if (!aborted_) api_.destroy(communicator.ends);
    for (std::size_t i = 0; i < communicator.queues.size(); ++i) {
      api_.free_queue(communicator.gpus[i], communicator.queues[i]);
    }
  }
  if (!aborted_) api_.destroy(root_);
}

const Communicator& Communicators::get(const Key& key) {
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  if (aborted_) throw std::runtime_error("NCCL was aborted");
  if (root_.empty()) {
    root_ = api_.make_root(gpus_);
    settle(root_);
  }
  const auto& [gpus, is_pair] = key;
  Communicator made{gpus, api_.split(root_, gpus, is_pair ? kChannelsOfPair : 0), {}};
  settle(root_);
  settle(made.ends);
  for (const int gpu : gpus) {
    if (is_pair) made.queues.push_back(api_.make_queue(gpu));
  }
  return made_.emplace(key, std::move(made)).first->second;
}

void Communicators::settle(const std::vector<Comm>& ends) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (const Comm end : ends) {
    std::string error;
    for (;;) {
      const Api::State state = api_.state(end, error);
      if (state == Api::State::ready) break;
      if (state == Api::State::failed) throw std::runtime_error("NCCL: " + error);
      if (std::chrono::duration<double>(Clock::now() - begin).count() > timeout_) {
        throw std::runtime_error(fmt::format("NCCL does not get ready within {:g} s", timeout_));
      }
      std::this_thread::yield();
    }
  }
}

std::string Communicators::error() {
  std::string error;
  for (const auto& [key, communicator] : made_) {
    for (const Comm end : communicator.ends) {
      if (!aborted_ && api_.state(end, error) == Api::State::failed) return error;
    }
  }
  return "";
}

void Communicators::abort() noexcept {
  if (aborted_) return;
  aborted_ = true;
  for (const auto& [key, communicator] : made_) {
    for (const Comm end : communicator.ends) api_.abort(end);
  }
  for (const Comm end : root_) api_.abort(end);
}

}  // namespace shardlings::back::nccl
