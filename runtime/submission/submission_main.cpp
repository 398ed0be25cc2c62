// The main function of every submission. Prebuilt; the puzzle's harness.cpp provides shardlings_harness.
#include "submission/submission.h"

int main(int argc, char** argv) {
  return shardlings::submission::submission_main(argc, argv, &shardlings_harness);
}
