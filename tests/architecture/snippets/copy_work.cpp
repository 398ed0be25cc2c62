#include "shardlings/puzzle.h"

void copied(const shardlings::Work& work) {
  shardlings::Work copy = work;
  copy.wait();
}
