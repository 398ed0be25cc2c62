// The program that knows every verb: shardlings_whole beside shardlings, and the command of handouts.

#include <iostream>

#include "cli/app.h"
#include "cli/started.h"

int main(int argc, char** argv) {
  const shardlings::cli::Started start = shardlings::cli::started(argc, argv);
  return shardlings::cli::run_app(start.program, start.arguments, std::cout, std::cerr);
}
