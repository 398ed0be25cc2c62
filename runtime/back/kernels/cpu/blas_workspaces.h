/// \file
/// The memory that OpenBLAS takes for each product that is under way.
#pragma once

#include <atomic>

#include "base/mutex.h"

namespace shardlings::back::cpu {

// OpenBLAS keeps a workspace for others once it is given back.
using TakeWorkspace = void* (*)(int position);
using GiveWorkspaceBack = void (*)(void* workspace);

/// Whether the system would give OpenBLAS one more workspace.
bool is_room_for_workspace();
/// Throws NoWorkspace (blas.h).
[[noreturn]] void no_room_for_workspace();

/// Takes as many workspaces at once as there are users and gives them back: so many are there from then on.
class Workspaces {
 public:
  /// Throws NoWorkspace where the system has no room for them. Cheap once they are there.
  void provide(TakeWorkspace take, GiveWorkspaceBack give_back, int users);

 private:
  Mutex lock_;
  std::atomic<int> there_{0};
};

}  // namespace shardlings::back::cpu
