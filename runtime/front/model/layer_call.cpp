#include "front/model/layer_call.h"

#include <algorithm>
#include <utility>

#include "api/access.h"
#include "front/model/stack_recipe.h"

namespace shardlings::front {

using detail::Access;
using detail::Call;

namespace {

/// What lives longer than a micro-batch belongs to none.
bool is_lasting(Kind kind) {
  return kind == Kind::parameter || kind == Kind::gradient || kind == Kind::optimizer;
}

RecipeTensor described(RankModels& of, const Tensor& tensor) {
  if (!tensor) return {};
  const detail::Ref& ref = Access::ref(tensor);
  return {true, ref.shape, ref.dtype, of.memory.storages().at(ref.storage).kind};
}

}  // namespace

LayerCall::LayerCall(RankModels& of, const Call& call, const model::LayerStructure& layer)
    : of_(of), call_(call), model_(*of.models.find(call.model)), layer_(layer), plain_(of.recipes != nullptr) {
  if (!plain_) return;
  form_.layer = of.recipes->number_of(layer);
  form_.verb = call.verb;
  form_.divided = model_.tp.size();
}

// Where two arguments share memory, operations refuse it, or count it otherwise; what has no element is counted
// otherwise, too.
void LayerCall::add(const Operand& x) {
  if (!plain_) return;
  const Stretch where = stretch_of(x);
  const bool shares =
      std::any_of(used_.begin(), used_.end(), [&](const Used& other) { return overlap(other.where, where); });
  require(!shares && x.memory == Memory::device && (!x || where.range.size() > 0));
  used_.add({where, x.label.micro});
  form_.arguments.add({x.shape(), x.dtype(), x.kind});
}

void LayerCall::may_read(const Operand& x) {
  require(x || written_ < 0);
  add(x);
}

void LayerCall::takes(const Operand& x) {
  if (!plain_) return;
  add(x);
  const Storage& storage = of_.memory.storages().at(x.ref.storage);
  require(storage.in_flight.empty() && storage.count == x.size());
  taken_ = x.ref;
}

void LayerCall::writes(const Operand& y) {
  if (plain_ && !is_lasting(y.kind)) {
    require(written_ < 0);
    written_ = static_cast<int>(used_.size());
  }
  add(y);
}

void LayerCall::may_use(int index, bool does_write) {
  const detail::Ref& ref = call_.tensor[index];
  if (!plain_) return;
  if (ref.storage == 0) return add({});
  require(of_.memory.holds(ref) && of_.memory.storages().at(ref.storage).in_flight.empty());
  if (!plain_) return;
  const Operand found = of_.memory.find(call_, {.index = index});
  does_write ? writes(found) : reads(found);
}

void LayerCall::uses_up(const SavedEntry& entry) {
  require(entry.recipe != nullptr);
  form_.saved = entry.recipe;
  input_ = entry.input;
}

// An operation takes the micro-batch of its results from the first argument that has one. Where that says something,
// of a tensor that lasts no longer than a micro-batch, it depends on which arguments have one; all that are read must
// have the same.
void LayerCall::look_at_labels() {
  const Storage* to = labelled();
  if (to == nullptr) return;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    const std::int32_t micro = used_[i].micro;
    if (micro < 0) continue;
    form_.labels |= 1U << i;
    if (static_cast<int>(i) == written_) continue;
    require(micro_ < 0 || micro_ == micro);
    micro_ = micro;
  }
  const std::int32_t own = used(written_).micro;
  require(own == to->label.micro);
  constexpr std::uint32_t kAnother = 1U << 31U;
  if (own >= 0 && own != micro_) form_.labels |= kAnother;
}

bool LayerCall::is_of_stack() const {
  const bool has_recipe = layer_.llama || layer_.type == model::LayerStructure::Type::block;
  return of_.rank.options().execution.stack != nullptr && has_recipe && is_pass_of_stack(call_.verb);
}

// Of forward's arguments the second one is the block's input.
const Recipe* LayerCall::recipe_of_stack() {
  if (!plain_) {
    of_.rank.invalid(call_,
                     "a software stack is known for calls of layers whose arguments share no memory "
                     "and are not in flight");
  }
  recipe_ = of_.recipes->find(form_);
  if (recipe_ == nullptr) {
    const model::Execution& execution = of_.rank.options().execution;
    const Shape& x = form_.saved != nullptr ? input_ : form_.arguments[1].shape;
    const StackCall call{*execution.stack, execution.recompute, of_.rank.costs(), layer_, x, form_.divided};
    recipe_ = of_.recipes->add(form_, form_.saved != nullptr ? stack_pass_back(call, call_.verb, *form_.saved)
                                                             : stack_forward(call, form_.saves));
  }
  of_.memory.require_room(recipe_->most, Kind::activation, of_.rank.place(call_));
  return recipe_;
}

const Recipe* LayerCall::recipe() {
  if (is_of_stack()) return recipe_of_stack();
  if (!plain_) return nullptr;
  look_at_labels();
  if (plain_) recipe_ = of_.recipes->find(form_);
  if (recipe_ == nullptr) {
    require(!of_.recipes->is_full(form_));
    return nullptr;
  }
  // Where memory runs out, the operations say so, at the one that it runs out at.
  return of_.memory.ledger(Memory::device).fits(recipe_->most) ? recipe_ : nullptr;
}

void LayerCall::make_steps(const Recipe& recipe, Location at) {
  auto step = recipe.steps.begin();
  try {
    for (; step != recipe.steps.end(); ++step) {
      of_.memory.repeat(step->memory, at);
      of_.meter.repeat(step->spent);
      of_.rank.calls().count(step->calls);
      if (step->collective) of_.collectives.repeat(call_, Access::id(model_.tp), *step->collective);
    }
  } catch (...) {
    // As operations would: of theirs nothing is left, and what the call uses up is gone.
    for (auto made = recipe.steps.begin(); made <= step; ++made) of_.memory.remove(made->memory.change_by_kind);
    if (form_.saved != nullptr) of_.memory.remove(form_.saved->saved_bytes);
    throw;
  }
}

Tensor LayerCall::repeat(const Recipe& recipe, Tensor&& taken, SavedEntry* saved) {
  const Location at = of_.rank.place(call_);
  make_steps(recipe, at);
  if (Storage* to = recipe.labels_written ? labelled() : nullptr) to->label.micro = micro_;
  if (saved) {
    saved->recipe = &recipe;
    saved->at = at;
  }
  if (recipe.returns_taken) return std::move(taken);
  if (taken) of_.memory.free_counted(Access::release(std::move(taken)));
  const RecipeTensor& made = recipe.result;
  if (!made.there) return {};
  return Access::adopt(&of_.port, of_.memory.allocate_counted(made.shape, made.dtype, made.kind, at).ref);
}

Recording::Recording(LayerCall& call)
    : call_(call),
      of_(call.of_),
      records_(call.plain_ && call.recipe_ == nullptr),
      ledger_(call.of_.memory.ledger(Memory::device)) {
  if (!records_) return;
  of_.collectives.tell(this);
  begin_step();
}

Recording::~Recording() {
  if (!records_) return;
  of_.collectives.tell(nullptr);
  of_.memory.ledger(Memory::device).resume_peak(ledger_);
}

void Recording::begin_step() {
  Ledger& device = of_.memory.ledger(Memory::device);
  ledger_ = device;
  device.reset_peak({});
  const Counters& counters = of_.rank.counters();
  spent_ = {of_.rank.now(), counters.flops, counters.operations};
  calls_ = of_.rank.calls().order();
}

void Recording::end_step() {
  Ledger& device = of_.memory.ledger(Memory::device);
  const Counters& counters = of_.rank.counters();
  RecipeStep& step = recipe_.steps.emplace_back();
  step.spent = {of_.rank.now() - spent_.time, counters.flops - spent_.flops, counters.operations - spent_.operations};
  step.calls = of_.rank.calls().order() - calls_;
  step.memory = device.since(ledger_);
  device.resume_peak(ledger_);
  ledger_ = device;
}

void Recording::before(const back::Signature& signature) {
  end_step();
  recipe_.steps.back().collective = signature;
}

void Recording::after() {
  begin_step();
}

void Recording::end(const Tensor& result, SavedEntry* saved) {
  if (!records_) return;
  end_step();
  Bytes alive;
  for (const RecipeStep& step : recipe_.steps) {
    recipe_.most = std::max(recipe_.most, alive + step.memory.rise);
    alive += step.memory.change;
  }
  recipe_.result = described(of_, result);
  const detail::Ref &returned = Access::ref(result), &taken = call_.taken_;
  recipe_.returns_taken = result && returned.storage == taken.storage && returned.generation == taken.generation;
  const Storage* written = call_.labelled();
  recipe_.labels_written = written && written->label.micro == call_.micro_;
  if (saved) {
    for (const Tensor& tensor : saved->tensors) {
      const RecipeTensor& kept = recipe_.saved.emplace_back(described(of_, tensor));
      recipe_.saved_bytes[static_cast<std::size_t>(kept.kind)] +=
          of_.rank.costs().weight(kept.shape.size(), kept.dtype, kept.kind);
    }
  }
  const Recipe* recipe = of_.recipes->add(call_.form_, std::move(recipe_));
  if (saved) keep_as_recipe(*saved, *recipe);
}

void Recording::keep_as_recipe(SavedEntry& saved, const Recipe& recipe) {
  for (Tensor& tensor : saved.tensors) {
    if (tensor) of_.memory.free_counted(Access::release(std::move(tensor)));
  }
  saved.tensors.clear();
  saved.recipe = &recipe;
  saved.at = of_.rank.place(call_.call_);
}

void make_tensors(RankModels& of, SavedEntry& entry) {
  if (entry.recipe == nullptr) return;
  for (const RecipeTensor& kept : std::exchange(entry.recipe, nullptr)->saved) {
    Tensor& tensor = entry.tensors.emplace_back();
    if (!kept.there) continue;
    const Operand made = of.memory.allocate_counted(kept.shape, kept.dtype, kept.kind, entry.at);
    of.memory.storages().at(made.ref.storage).label = entry.label;
    tensor = Access::adopt(&of.port, made.ref);
  }
}

}  // namespace shardlings::front
