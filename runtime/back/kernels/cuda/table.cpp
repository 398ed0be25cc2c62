#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

KernelTable make_table() {
  KernelTable table;
  add_copy_kernels(table);
  add_elementwise_kernels(table);
  add_activation_kernels(table);
  add_matmul_kernels(table);
  add_row_kernels(table);
  add_softmax_kernels(table);
  add_column_kernels(table);
  add_norm_kernels(table);
  add_attention_kernels(table);
  add_partial_attention_kernels(table);
  add_embedding_kernels(table);
  add_loss_kernels(table);
  add_optimizer_kernels(table);
  add_total_kernels(table);
  add_random_kernels(table);
  add_reduce_kernels(table);
  add_scaled_kernels(table);
  return table;
}

}  // namespace

const KernelTable& kernel_table() {
  static const KernelTable table = make_table();
  return table;
}

}  // namespace shardlings::back::cuda
