/// \file
/// The flat table: which function handles which verb. Each folder fills in its own.
#pragma once

#include <array>

#include "front/rank_front.h"

namespace shardlings::front {

using HandlerTable = std::array<Handler, detail::kVerbs>;

void add_memory_handlers(HandlerTable& table);  // front/memory
void add_op_handlers(HandlerTable& table);      // front/ops
void add_model_handlers(HandlerTable& table);   // front/model
void add_group_handlers(HandlerTable& table);   // front/group
void add_work_handlers(HandlerTable& table);    // front/work

const HandlerTable& handlers();
/// The verb as the learner writes it: "matmul", "all_reduce".
const char* name_of(detail::Verb verb);
/// The same where one verb stands for several functions: "zeros" and "host_empty" are both `allocate`.
const char* name_of(const detail::Call& call);

}  // namespace shardlings::front
