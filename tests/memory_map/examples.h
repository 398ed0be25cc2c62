/// \file
/// Models and settings for the tests of the map of memory.
#pragma once

#include "grading/memory_map/memory_map.h"

namespace shardlings::grading {

inline Transformer gpt_of(int layers, Count hidden, int heads, Count vocabulary, Count sequence) {
  Transformer model;
  model.name = "test";
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.vocabulary = vocabulary;
  model.sequence = sequence;
  return model;
}

/// The names of the ZeRO paper: 16 bits and Adam.
inline Training mixed() {
  Training training;
  training.precision = precision_of("mixed");
  return training;
}

inline Transformer named(const std::string& name) {
  return find_transformer(load_transformers(SHARDLINGS_TRANSFORMERS), name);
}

}  // namespace shardlings::grading
