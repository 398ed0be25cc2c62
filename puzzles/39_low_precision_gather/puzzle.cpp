// Puzzle 39: FSDP that gathers its weights in 8 bits. Numbers in 8 bits need a scale, and blocks of 32 share one.
//
// Every rank keeps its parts of the weights in f32, for the optimizer, and in 8 bits, for everybody. What a layer
// computes with is made of 8 bits. The lesson is README.md beside this file; `./shardlings explain 39` shows it in the
// terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// The weights of one layer, whole and in 8 bits: on their way, or there.
struct Unit {
  Tensor codes;   // (model.size(l)), e4m3
  Work gathered;  // the all-gather that fills them
};

/// One training step with L = model.num_layers() layers, on N = rank.size() ranks together. Of n elements this rank
/// owns world.mine(n), its part.
///
/// state.weights[l]   (this rank's part of size(l)), f32   the master weights, as the optimizer updates them
/// state.grads[l]     (this rank's part of size(l)), bf16  zeros. Leave the part of the gradient of the step there
/// scaled.codes[l]    (this rank's part of size(l)), e4m3  leave the codes of the part of the master weights there
/// scaled.scales[l]   (scaling_blocks(size(l))), e8m0      leave the scales of all blocks of layer l there
/// scaled.all_scales  the scales of all layers, one behind another: scaled.scales[l] are parts of it
/// batch, loss        this rank's part of the batch; takes this rank's share of the loss, 0 before
///
/// Blocks are counted over the whole layer, so that two or more ranks may have elements of the same block.
///
/// Result  codes and scales of each layer as one rank would have them that has all of it, made anew in each step;
///         forward and backward compute in bf16 with weights that are scale times code; gradients are summed over the
///         ranks and never in 8 bits; the optimizer's weights keep their 32 bits
/// Memory  beside parts, scales and activations, while a layer computes: its weights in bf16, the codes of the next,
///         two layers' gradients in bf16; nothing on the host
/// Wire    all scales by one call of an all-reduce in the step; the codes of each layer are gathered for its forward,
///         and for its backward unless its weights are still there then; its gradient is reduce-scattered once, in bf16
/// Time    each layer runs forward and backward once, by one call each; what is gathered and scattered is hidden where
///         it can be
///
/// Calls that you need: block_scales(scales, x, first), quantize(codes, x, scales, first) and dequantize(y, codes,
/// scales, first), where `first` is the number that the first element of x (of y) has in its layer; all_reduce(scales,
/// op); those of puzzle 13; rank.empty(n, kind, dtype), and likewise zeros.
void train_step(Rank& rank, const Model& model, TrainState& state, ScaledWeights& scaled, const Batch& batch,
                View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h) in bf16, the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  const bool is_text = batch.inputs.dtype() == DType::i32;
  x[0] = is_text ? clone(batch.inputs) : cast(batch.inputs, DType::bf16);

  // >>> your code (about 38 lines)
  not_implemented();
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}
