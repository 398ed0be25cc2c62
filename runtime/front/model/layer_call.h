/// \file
/// One call of the model: made of its operations, or repeated from a recipe where there is one of its form.
#pragma once

#include <cstdint>

#include "api/arguments.h"
#include "front/model/rank_models.h"
#include "front/model/recipe.h"

namespace shardlings::front {

class LayerCall {
 public:
  LayerCall(RankModels& of, const detail::Call& call, const model::LayerStructure& layer);

  /// \name What the call works on, in any order that is the same for all calls of its verb
  /// All have been checked, but for those of `may_use`, which are looked at only here.
  /// @{
  void reads(const Operand& x) { add(x); }
  /// Read if it is there. Where it is not, what is written takes its label from a Saved, which no recipe knows: such a
  /// call has one only if it writes to what belongs to no micro-batch. To be said after writes().
  void may_read(const Operand& x);
  void writes(const Operand& y);
  void takes(const Operand& x);
  template <detail::FieldKind kind>
  void may_use(detail::Argument<kind> argument) {
    may_use(argument.index, kind == detail::FieldKind::writes);
  }
  /// The Saved that a backward, or a half of it, uses up.
  void uses_up(const SavedEntry& entry);
  /// The call leaves a Saved behind.
  void saves() { form_.saves = true; }
  /// Something else that the operations depend on.
  void depends_on(std::int64_t of_model) { form_.of_model = of_model; }
  void require(bool usual) { plain_ = plain_ && usual; }
  /// @}

  /// To be asked when all arguments are there. A software stack always has one; throws what its memory does not allow,
  /// or what is so unusual that it knows nothing of it. nullptr: the operations are to be made, since there is no
  /// recipe, or since something is so unusual that they might do something else.
  const Recipe* recipe();
  /// Does what the operations would. `taken` is what the call uses up; `saved` is filled in, if the call leaves one.
  Tensor repeat(const Recipe& recipe, Tensor&& taken = {}, SavedEntry* saved = nullptr);

 private:
  friend class Recording;

  /// What is known of an argument beside its form.
  struct Used {
    Stretch where;
    std::int32_t micro = -1;
  };

  void make_steps(const Recipe& recipe, Location at);

  void add(const Operand& x);
  void may_use(int index, bool writes);
  /// What is written, if it belongs to a micro-batch as soon as one of that has been added to it.
  Storage* labelled() { return written_ < 0 ? nullptr : &of_.memory.storages().at(used(written_).where.storage); }
  const Used& used(int i) const { return used_[static_cast<std::size_t>(i)]; }
  void look_at_labels();
  bool is_of_stack() const;
  const Recipe* recipe_of_stack();

  RankModels& of_;
  const detail::Call& call_;
  const detail::RankModel& model_;
  const model::LayerStructure& layer_;
  bool plain_;  ///< it is what most calls are: without what would make operations do something else
  CallForm form_;
  Shape input_;  ///< of the layer, where a Saved is used up: backward_weights need not be given it
  InlineList<Used, CallForm::kMostArguments> used_;
  const Recipe* recipe_ = nullptr;
  detail::Ref taken_;        ///< what the call uses up
  int written_ = -1;         ///< the argument of labelled()
  std::int32_t micro_ = -1;  ///< of what is read
};

/// While it lives, what the operations of a call do is recorded, if there is no recipe and nothing unusual.
class Recording final : private CollectiveWatcher {
 public:
  explicit Recording(LayerCall& call);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// The operations are made. What they have saved becomes a recipe, too.
  void end(const Tensor& result, SavedEntry* saved);

 private:
  void before(const back::Signature& signature) override;
  void after() override;
  void begin_step();
  void end_step();
  void keep_as_recipe(SavedEntry& saved, const Recipe& recipe);

  LayerCall& call_;
  RankModels& of_;
  bool records_;
  Recipe recipe_;
  // How it was when the step began.
  Ledger ledger_;
  Spent spent_;
  std::uint64_t calls_ = 0;
};

/// Makes tensors of what a recipe knows of them.
void make_tensors(RankModels& of, SavedEntry& entry);

}  // namespace shardlings::front
