// The main function of every submission. Prebuilt; the puzzle's harness.cpp provides shardlings_harness.
#include "grading/submission.h"

int main(int argc, char** argv) {
  return shardlings::grading::submission_main(argc, argv, &shardlings_harness);
}
