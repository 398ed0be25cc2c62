/// \file
/// The models that a rank's harness has made known: what the `model` of a call stands for.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "api/rank_model.h"

namespace shardlings::front {

class ModelTable {
 public:
  /// Returns its number, never 0.
  std::uint32_t add(detail::RankModel model) {
    models_.push_back(std::make_unique<const detail::RankModel>(std::move(model)));
    return static_cast<std::uint32_t>(models_.size());
  }
  /// nullptr if there is none of that number. Stays where it is.
  const detail::RankModel* find(std::uint32_t id) const {
    return id == 0 || id > models_.size() ? nullptr : models_[id - 1].get();
  }

 private:
  std::vector<std::unique_ptr<const detail::RankModel>> models_;
};

}  // namespace shardlings::front
