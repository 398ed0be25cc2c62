/// \file
/// Models and settings for the tests of the map of memory.
#pragma once

#include "memory_map/memory_map.h"

namespace shardlings::grading {

inline memory_map::Transformer gpt_of(int layers, Count hidden, int heads, Count vocabulary, Count sequence) {
  memory_map::Transformer model;
  model.name = "test";
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.vocabulary = vocabulary;
  model.sequence = sequence;
  return model;
}

/// The names of the ZeRO paper: 16 bits and Adam.
inline memory_map::Training mixed() {
  memory_map::Training training;
  training.precision = memory_map::precision_of("mixed");
  return training;
}

inline memory_map::Transformer named(const std::string& name) {
  return memory_map::find_transformer(memory_map::load_transformers(SHARDLINGS_TRANSFORMERS), name);
}

}  // namespace shardlings::grading
