#include "grading/run/gpu_probe.h"

#include <cstdio>

#include "grading/run/machine_json.h"
#include "world/machine.h"

namespace shardlings::grading::run {

int gpu_probe_main() {
  std::puts(to_json(world::look_at_machine()).c_str());
  return 0;
}

}  // namespace shardlings::grading::run
