#include "front/handlers.h"

#include <fmt/format.h>

namespace shardlings::front {
namespace {

using detail::Call;
using detail::Reply;
using detail::Verb;

Reply unknown(RankFront&, const Call& call) {
  throw Error(fmt::format("this is a bug in shardlings: nobody handles verb {}", static_cast<int>(call.verb)).c_str(),
              call.at);
}

HandlerTable make_table() {
  HandlerTable table;
  table.fill(unknown);
  add_memory_handlers(table);
  add_op_handlers(table);
  add_model_handlers(table);
  add_group_handlers(table);
  add_work_handlers(table);
  return table;
}

}  // namespace

const HandlerTable& handlers() {
  static const HandlerTable table = make_table();
  return table;
}

const char* name_of(Verb verb) {
  // In the order of the enumeration; a test compares the count.
  static constexpr const char* kNames[] = {"allocate",
                                           "drop",
                                           "read",
                                           "keep",
                                           "matmul",
                                           "matmul_add",
                                           "clone",
                                           "cast",
                                           "cast_into",
                                           "copy",
                                           "fill",
                                           "add",
                                           "axpy",
                                           "scale",
                                           "scale_by",
                                           "gelu",
                                           "gelu_backward",
                                           "relu",
                                           "relu_backward",
                                           "random_normal",
                                           "add_bias",
                                           "sum_rows_add",
                                           "row_max",
                                           "row_sum",
                                           "exp_minus_row",
                                           "divide_rows",
                                           "pick",
                                           "add_at",
                                           "slice_cols",
                                           "concat_cols",
                                           "concat_rows",
                                           "softmax",
                                           "softmax_backward",
                                           "layer_norm",
                                           "layer_norm_backward",
                                           "attention",
                                           "attention_backward",
                                           "embedding",
                                           "embedding_backward_add",
                                           "add_positions",
                                           "sum_positions_add",
                                           "cross_entropy",
                                           "loss_add",
                                           "adam",
                                           "sgd",
                                           "add_squares",
                                           "clip_factor",
                                           "flag_nonfinite",
                                           "forward",
                                           "backward",
                                           "loss",
                                           "update",
                                           "drop_saved",
                                           "all_reduce",
                                           "reduce_scatter",
                                           "all_gather",
                                           "broadcast",
                                           "reduce",
                                           "gather",
                                           "scatter",
                                           "all_to_all",
                                           "send",
                                           "recv",
                                           "send_recv",
                                           "barrier",
                                           "split",
                                           "wait",
                                           "drop_work",
                                           "load",
                                           "mark_layer",
                                           "begin_measuring",
                                           "end_measuring",
                                           "publish"};
  static_assert(std::size(kNames) == detail::kVerbs);
  return kNames[static_cast<std::size_t>(verb)];
}

const char* name_of(const Call& call) {
  if (call.verb != Verb::allocate) return name_of(call.verb);
  const bool zeros = call.number[1] != 0;
  if (call.number[2] != 0) return zeros ? "host_zeros" : "host_empty";
  return zeros ? "zeros" : "empty";
}

}  // namespace shardlings::front
