#include "back/kernels/cpu/blas_workspaces.h"

#include <sys/mman.h>

#include <vector>

#include "back/kernels/cpu/blas.h"
#include "base/machine_fault.h"

namespace shardlings::back::cpu {

bool is_room_for_workspace() {
  constexpr std::size_t kBytes = 136U << 20U;  // and a little more, as other threads take memory meanwhile
  void* room = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, kBytes) == 0;
}

void no_room_for_workspace() {
  const MachineFault noted(NoWorkspace().what());  // std::bad_alloc is all that is left of this behind a port
  throw NoWorkspace();
}

void Workspaces::provide(TakeWorkspace take, GiveWorkspaceBack give_back, int users) {
  if (users <= there_.load(std::memory_order_acquire)) return;
  const MutexLock guard(lock_);
  if (users <= there_.load(std::memory_order_relaxed)) return;
  std::vector<void*> taken;
  // Those that are there already need no room; they are the first that are taken.
  while (static_cast<int>(taken.size()) < users &&
         (static_cast<int>(taken.size()) < there_ || is_room_for_workspace())) {
    taken.push_back(take(0));
  }
  for (void* workspace : taken) give_back(workspace);
  if (static_cast<int>(taken.size()) < users) no_room_for_workspace();
  there_.store(users, std::memory_order_release);
}

}  // namespace shardlings::back::cpu
