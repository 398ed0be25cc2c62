#include "model/memory.h"

#include <algorithm>

#include "base/dtype.h"
#include "model/activations.h"
#include "model/llama.h"

namespace shardlings::model {
namespace {

using Type = LayerStructure::Type;

/// Of each row, in f32: mean and 1/deviation; an RMS norm has no mean.
Bytes statistics(const LayerStructure& layer, Count tokens) {
  return bytes_of((layer.llama ? 1 : 2) * tokens, DType::f32);
}
Bytes wide(Count tokens, Count width, DType dtype) {
  return bytes_of(tokens * width, dtype);
}

/// What a block keeps, but for x, which is the caller's.
Bytes saved_by_block(const LayerStructure& layer, Count tokens, Count batch, DType dtype) {
  const Count sequence = batch > 0 ? tokens / batch : 0;
  ActivationFormat format;
  format.element_bytes = size_of(dtype);
  Bytes sum;
  for (const KeptTensor& kept : kept_by_block(part_of_block(layer), sequence, batch, format)) sum += kept.bytes;
  return sum - wide(tokens, layer.in, dtype);
}

/// The sums of the gradients of a norm's two vectors.
Bytes norm_sums(const LayerStructure& layer) {
  return bytes_of(2 * layer.in, DType::f32);
}

Bytes kept_by_block(const LayerStructure& layer, Count tokens, DType dtype) {
  const Bytes whole = wide(tokens, layer.in, dtype), attended = wide(tokens, layer.attended, dtype);
  return 4 * whole + 4 * attended + 2 * wide(tokens, layer.wide, dtype) + 2 * norm_sums(layer);
}

Bytes input_peak_of_block(const LayerStructure& layer, Count tokens, Count batch, DType dtype) {
  const Bytes whole = wide(tokens, layer.in, dtype), attended = wide(tokens, layer.attended, dtype);
  const Bytes middle = wide(tokens, layer.wide, dtype), sums = norm_sums(layer);
  const Bytes saved = saved_by_block(layer, tokens, batch, dtype);
  // What is saved but for three activations, four attended ones, both sides of the GELU and the statistics.
  const Bytes scores = saved - 3 * whole - 4 * attended - 2 * middle - 2 * statistics(layer, tokens);
  const Bytes at_gelu = saved + whole + 2 * middle;
  const Bytes at_second_norm = 6 * whole + 4 * attended + 2 * middle + scores + 2 * statistics(layer, tokens) + sums;
  const Bytes in_attention = 4 * whole + 8 * attended + 2 * middle + scores + statistics(layer, tokens) + sums;
  const Bytes at_first_norm = kept_by_block(layer, tokens, dtype) + 2 * whole + statistics(layer, tokens);
  return std::max({at_gelu, at_second_norm, in_attention, at_first_norm});
}

}  // namespace

Bytes output_bytes(const LayerStructure& layer, Count tokens, DType dtype) {
  return wide(tokens, layer.out, dtype);
}

Bytes input_bytes(const LayerStructure& layer, Count tokens, DType dtype) {
  return layer.type == Type::embedding ? bytes_of(tokens, DType::i32) : wide(tokens, layer.in, dtype);
}

Bytes saved_bytes(const LayerStructure& layer, Count tokens, Count batch, DType dtype) {
  switch (layer.type) {
    case Type::linear_gelu: return output_bytes(layer, tokens, dtype);
    case Type::block: return saved_by_block(layer, tokens, batch, dtype);
    case Type::head: return input_bytes(layer, tokens, dtype) + statistics(layer, tokens);
    case Type::linear:
    case Type::embedding: break;
  }
  return Bytes(0);
}

Bytes forward_peak(const LayerStructure& layer, Count tokens, Count batch, bool saving, DType dtype) {
  const Bytes output = output_bytes(layer, tokens, dtype);
  if (layer.type == Type::linear_gelu) return 2 * output;
  if (saving) return saved_bytes(layer, tokens, batch, dtype) + output;
  if (layer.type == Type::block && layer.llama) return llama_forward_peak(layer, tokens, dtype);
  if (layer.type == Type::block) {
    const Bytes middle = wide(tokens, layer.wide, dtype), qkv = wide(tokens, 3 * layer.attended, dtype);
    return std::max({output + 2 * middle, 2 * output + middle, output + qkv});
  }
  if (layer.type == Type::head) return input_bytes(layer, tokens, dtype) + output;
  return output;
}

Bytes backward_peak(const LayerStructure& layer, Count tokens, Count batch, DType dtype) {
  const Bytes input = input_bytes(layer, tokens, dtype);
  const Bytes output = output_bytes(layer, tokens, dtype);
  switch (layer.type) {
    case Type::linear: return output + input;
    case Type::linear_gelu: return std::max(3 * output, output + input);
    case Type::embedding: return output;
    case Type::block: {
      const Bytes saved = saved_bytes(layer, tokens, batch, dtype);
      return layer.llama ? llama_backward_peak(layer, tokens, saved, dtype)
                         : saved + output + wide(tokens, layer.wide, dtype);
    }
    case Type::head: return std::max(output + input, 2 * input) + statistics(layer, tokens);
  }
  return Bytes(0);
}

Bytes kept_bytes(const LayerStructure& layer, Count tokens, DType dtype) {
  const Bytes output = output_bytes(layer, tokens, dtype);
  switch (layer.type) {
    case Type::linear:
    case Type::linear_gelu:
    case Type::embedding: return output;
    case Type::block: return layer.llama ? Bytes(0) : kept_by_block(layer, tokens, dtype);
    case Type::head: return output + input_bytes(layer, tokens, dtype) + norm_sums(layer);
  }
  return Bytes(0);
}

Bytes backward_input_peak(const LayerStructure& layer, Count tokens, Count batch, DType dtype) {
  const Bytes input = input_bytes(layer, tokens, dtype), output = output_bytes(layer, tokens, dtype);
  switch (layer.type) {
    case Type::linear: return output + input;
    case Type::linear_gelu: return std::max(3 * output, output + input);
    case Type::embedding: return output;
    case Type::block: return layer.llama ? Bytes(0) : input_peak_of_block(layer, tokens, batch, dtype);
    case Type::head: return output + 3 * input + statistics(layer, tokens) + norm_sums(layer);
  }
  return Bytes(0);
}

bool weights_read_x(const LayerStructure& layer) {
  return layer.type != Type::block && layer.type != Type::head;
}

Bytes loss_peak(const LayerStructure& head, Count vocabulary, Count tokens) {
  const Bytes logits = output_bytes(head, tokens), numbers = wide(tokens, 1, DType::f32);
  if (head.out == vocabulary) return logits;
  return logits + std::max(3 * numbers, 2 * numbers + wide(vocabulary, 1, DType::f32));
}

}  // namespace shardlings::model
