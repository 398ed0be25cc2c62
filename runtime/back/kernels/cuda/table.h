/// \file
/// Which function enqueues which kernel. Each file of kernels fills in its own.
#pragma once

#include "back/kernels/by_type.h"
#include "back/kernels/cuda/launch.h"

namespace shardlings::back::cuda {

using KernelTable = FunctionTable<KernelFunction>;

void add_copy_kernels(KernelTable& table);
void add_elementwise_kernels(KernelTable& table);
void add_activation_kernels(KernelTable& table);
void add_matmul_kernels(KernelTable& table);
void add_row_kernels(KernelTable& table);
void add_softmax_kernels(KernelTable& table);
void add_column_kernels(KernelTable& table);
void add_norm_kernels(KernelTable& table);
void add_attention_kernels(KernelTable& table);
void add_partial_attention_kernels(KernelTable& table);
void add_embedding_kernels(KernelTable& table);
void add_loss_kernels(KernelTable& table);
void add_optimizer_kernels(KernelTable& table);
void add_total_kernels(KernelTable& table);
void add_random_kernels(KernelTable& table);
void add_reduce_kernels(KernelTable& table);
void add_scaled_kernels(KernelTable& table);

/// All kernels; made once.
const KernelTable& kernel_table();

}  // namespace shardlings::back::cuda
