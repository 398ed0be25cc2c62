#include "back/fabric/nccl/watchdog.h"

#include <algorithm>

namespace shardlings::back::nccl {

Operation::~Operation() {
  for (const Part& part : parts) {
    if (part.ready) api_.free_event(part.gpu, part.ready);
    if (part.done) api_.free_event(part.gpu, part.done);
  }
}

bool Operation::over() const {
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) { return api_.reached(part.done); });
}

std::string Operation::open_parts() const {
  std::string gpus;
  for (const Part& part : parts) {
    if (!api_.reached(part.done)) gpus += (gpus.empty() ? "" : ", ") + std::to_string(part.gpu);
  }
  return "not over on GPU " + gpus;
}

void Watchdog::watch(std::shared_ptr<Operation> operation) {
  operation->launched = std::chrono::steady_clock::now();
  under_way_.push_back(std::move(operation));
}

bool Watchdog::is_idle() {
  std::erase_if(under_way_, [](const auto& operation) { return operation->over(); });
  return under_way_.empty();
}

std::shared_ptr<Operation> Watchdog::look() {
  if (is_idle()) return nullptr;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& operation : under_way_) {
    if (std::chrono::duration<double>(now - operation->launched).count() > timeout_) return operation;
  }
  return nullptr;
}

}  // namespace shardlings::back::nccl
