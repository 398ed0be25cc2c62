/// \file
/// A transformer as the numbers that its memory depends on, and the named ones of models.toml.
#pragma once

#include <string>
#include <vector>

#include "model/activations.h"
#include "model/structure.h"

namespace shardlings::memory_map {

/// A GPT, or a Llama, as of model/structure.h. Without layers only the number of parameters is known, and no
/// activations.
struct Transformer {
  std::string name;
  std::string title;      ///< "GPT-2 XL"
  std::string source;     ///< where the numbers come from
  double parameters = 0;  ///< as published; used where there are no layers
  int layers = 0;
  Count hidden = 0;
  int heads = 0;
  Count vocabulary = 0;
  Count sequence = 0;  ///< positions that the model has embeddings for
  bool tied = true;    ///< the head uses the table of token embeddings
  model::ModelSpec::Blocks blocks = model::ModelSpec::Blocks::gpt;
  int key_value_heads = 0;  ///< of a Llama; 0: as many as heads
  Count wide = 0;           ///< of a Llama: width of the middle; 0: 4 h
  bool has_layers() const { return layers > 0; }
};

/// Gives a model of the family GPT these sizes and these blocks; what a case says beside them (micro-batches, types)
/// stays.
void take_sizes(const Transformer& model, model::ModelSpec& spec);
/// Its layers, the embedding and the head included; for a tied model the head still has its matrix.
model::ModelStructure structure_of(const Transformer& model);
/// One of its blocks, undivided.
model::BlockPart block_of(const Transformer& model);
/// Parameters of the whole model, counted from its layers where it has some.
Count parameters_of(const Transformer& model);

/// Reads models.toml. Throws std::runtime_error naming file, line and key at fault.
std::vector<Transformer> load_transformers(const std::string& file);
/// The named model, or one given as "layers=12,hidden=768,heads=12,vocabulary=50257,sequence=1024,tied=1", for a Llama
/// with "blocks=llama,key_value_heads=8,wide=14336" beside it, or as "parameters=7.5e9". Throws std::invalid_argument
/// that says what there is.
Transformer find_transformer(const std::vector<Transformer>& known, const std::string& text);

}  // namespace shardlings::memory_map
