#include "shardlings/puzzle.h"

int copied(shardlings::Rank& rank) {
  shardlings::Rank copy = rank;
  return copy.id();
}
