#include "grading/run/gpu_probe.h"

int main() {
  return shardlings::grading::run::gpu_probe_main();
}
