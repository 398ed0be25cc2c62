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

/// Fails a check that has passed if any rank has called the store: what goes there from one rank to another is counted
/// by no budget but those of puzzles about it.
void refuse_store(CheckContext& check);

/// Fails a check that has passed if any rank has asked which ranks live: each rank learns a number from every other one
/// then, and waits for all, at no cost.
void refuse_survivors(CheckContext& check);

/// Fails a check that has passed if any rank has called a barrier: it sends no byte, and where it does not wait in vain
/// it hides that a wait is missing.
void refuse_barriers(CheckContext& check);

/// Which kind of product the operation of that name is; nothing for one that is linear in one tensor.
std::optional<cases::Product> product_of(const std::string& operation);

/// Fails a check that has passed if any rank has multiplied by operations that are not among `allowed`: where the
/// model's layers do that, a layer that is put together from operations would escape what is counted of layers, and on
/// a cluster with a table of times it would cost nothing.
void refuse_products(CheckContext& check, const std::vector<cases::Product>& allowed);

/// Fails a check that has passed if more has gone through an operation of `allowed` that is no product of matrices than
/// SHARDLINGS_MOST_OF_PRODUCTS grants it; it grants nothing to those that it leaves out.
void bound_products(CheckContext& check, const std::vector<cases::Product>& allowed);

/// Fails a check that has passed if all ranks together have added and scaled more than four times what layers and
/// products of matrices have computed: in sums alone a product can be made, too, as beside a number that is huge
/// another one is rounded away. That takes some hundred times what the product itself takes; solutions add less than
/// half as much as they multiply, and one that is written at length a little more than it multiplies. Where nothing was
/// multiplied, and nothing is listed that multiplies matrices, a puzzle is about sums.
void bound_sums(CheckContext& check, const std::vector<cases::Product>& allowed);

/// Fails a check that has passed if the products of matrices of all ranks together take less than
/// SHARDLINGS_LEAST_OF_PRODUCTS says: however the rest was made, no budget has counted it as what it is.
void require_products(CheckContext& check);

/// Fails a check that has passed if a rank's calls of model.update, and Adam on the host, have computed more than one
/// update of every weight in each step: they multiply gradients by a factor of the device, and weights by nothing else.
void bound_updates(CheckContext& check);

}  // namespace shardlings::grading::judge
