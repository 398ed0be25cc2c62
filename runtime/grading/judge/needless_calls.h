/// \file
/// Calls that no budget counts and no result needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case/manifest.h"
#include "grading/judge/grader.h"

namespace shardlings::grading::judge {

/// Fails a check that has passed if any rank has read a number: right results come first, so that a number can be
/// printed while one looks for a mistake. What is computed with such numbers on the host is neither counted nor timed,
/// so a puzzle that has no need of them forbids them.
void refuse_host_reads(CheckContext& check);

/// Fails a check that has passed if any rank has called a barrier: it sends no byte, and where it does not wait in vain
/// it hides that a wait is missing.
void refuse_barriers(CheckContext& check);

/// Which kind of product of matrices the operation of that name is; nothing for one that multiplies none.
std::optional<cases::Product> product_of(const std::string& operation);

/// Fails a check that has passed if any rank has multiplied matrices by operations that are not among `allowed`: where
/// the model's layers do that, a layer that is put together from operations would escape what is counted of layers, and
/// on a cluster with a table of times it would cost nothing.
void refuse_products(CheckContext& check, const std::vector<cases::Product>& allowed);

}  // namespace shardlings::grading::judge
