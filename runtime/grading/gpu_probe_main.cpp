#include "grading/gpu_probe.h"

int main() {
  return shardlings::grading::gpu_probe_main();
}
