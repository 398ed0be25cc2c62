/// \file
/// What a call of the model does to counters, clock and memory: recorded when it is made of its operations for the
/// first time, and repeated from then on. Only where nothing is computed: then there is nothing else that it does.
///
/// A layer's call is the same on every rank, in every micro-batch and in every layer like it, and is made of some
/// twenty operations. What lies between two of its collectives always takes the same time, counts the same and changes
/// the memory by the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "api/verbs.h"
#include "back/fabric/fabric.h"
#include "base/inline_list.h"
#include "front/memory/ledger.h"
#include "front/rank/meter.h"
#include "model/structure.h"

namespace shardlings::front {

/// The operations of a call between two of its collectives.
struct RecipeStep {
  Spent spent;
  std::uint64_t calls = 0;                    ///< of the port, the collective's behind them included
  LedgerChange memory;                        ///< of the device
  std::optional<back::Signature> collective;  ///< with which it ends; nothing: with the call
};

/// A tensor that a call leaves behind.
struct RecipeTensor {
  bool there = false;
  Shape shape;
  DType dtype = DType::f32;
  Kind kind = Kind::other;
};

struct Recipe {
  std::vector<RecipeStep> steps;
  Bytes most;  ///< alive at once, over what was alive when the call began; not below 0
  /// What the call returns; `returns_taken`: the memory of the tensor that it uses up.
  RecipeTensor result;
  bool returns_taken = false;
  /// What is written belongs to the micro-batch of what was read afterwards.
  bool labels_written = false;
  std::vector<RecipeTensor> saved;  ///< what forward leaves for backward
  KindBytes saved_bytes{};          ///< of it
};

/// All that a recipe depends on: calls of one form have one recipe.
struct CallForm {
  static constexpr std::size_t kMostArguments = 5;
  struct Argument {
    Shape shape;
    DType dtype = DType::f32;
    Kind kind = Kind::other;
    bool operator==(const Argument&) const = default;
  };

  int layer = -1;  ///< layers of one number are alike: Recipes::number_of()
  detail::Verb verb = detail::Verb::count_;
  bool saves = false;
  int divided = 0;                ///< ranks over which the layer is divided
  std::int64_t of_model = 0;      ///< what else of the model matters: the vocabulary, the optimizer
  const Recipe* saved = nullptr;  ///< that of the forward before this backward
  /// Which arguments belong to a micro-batch, and whether the one that is written belongs to another one than what is
  /// read; only where something is written whose label depends on it.
  std::uint32_t labels = 0;
  InlineList<Argument, kMostArguments> arguments;

  bool operator==(const CallForm& other) const;
};

/// The recipes of one run, which all of its ranks share. They run by turns, on one thread.
class Recipes {
 public:
  /// The same number for layers that are equal. What is asked about must live as long as this.
  int number_of(const model::LayerStructure& layer);
  /// nullptr if no call of this form has been recorded.
  const Recipe* find(const CallForm& form) const;
  /// There are so many for this layer that looking for one takes longer than it saves.
  bool is_full(const CallForm& form) const;
  /// Returns the one that is kept: of two ranks that have recorded at the same time the first one's.
  const Recipe* add(const CallForm& form, Recipe recipe);

 private:
  struct Entry {
    CallForm form;
    std::unique_ptr<const Recipe> recipe;
  };

  std::unordered_map<const model::LayerStructure*, int> numbers_;
  std::vector<const model::LayerStructure*> layers_;  ///< one for each number
  std::vector<std::vector<Entry>> by_layer_;
};

}  // namespace shardlings::front
