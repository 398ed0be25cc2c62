#include "front/model/recipe.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace shardlings::front {
namespace {

bool are_alike(const Entry& a, const Entry& b) {
  return std::string_view(a.name) == b.name && a.range == b.range && a.rows == b.rows && a.cols == b.cols &&
         a.split == b.split;
}

/// But for where they stand in the model.
bool are_alike(const model::LayerStructure& a, const model::LayerStructure& b) {
  return a.type == b.type && a.in == b.in && a.out == b.out && a.heads == b.heads && a.attended == b.attended &&
         a.key_values == b.key_values && a.wide == b.wide && a.llama == b.llama && a.vocabulary == b.vocabulary &&
         a.range.size() == b.range.size() &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const Entry& x, const Entry& y) { return are_alike(x, y); });
}

}  // namespace

bool CallForm::operator==(const CallForm& other) const {
  return verb == other.verb && layer == other.layer && saves == other.saves && divided == other.divided &&
         of_model == other.of_model && saved == other.saved && labels == other.labels &&
         std::equal(arguments.begin(), arguments.end(), other.arguments.begin(), other.arguments.end());
}

int Recipes::number_of(const model::LayerStructure& layer) {
  if (const auto known = numbers_.find(&layer); known != numbers_.end()) return known->second;
  const auto like = [&](const model::LayerStructure* other) { return are_alike(*other, layer); };
  const auto found = std::find_if(layers_.begin(), layers_.end(), like);
  const int number = static_cast<int>(found - layers_.begin());
  if (found == layers_.end()) {
    layers_.push_back(&layer);
    by_layer_.emplace_back();
  }
  return numbers_[&layer] = number;
}

const Recipe* Recipes::find(const CallForm& form) const {
  for (const auto& [known, recipe] : by_layer_[static_cast<std::size_t>(form.layer)]) {
    if (known == form) return recipe.get();
  }
  return nullptr;
}

bool Recipes::is_full(const CallForm& form) const {
  constexpr std::size_t kMost = 200;
  return by_layer_[static_cast<std::size_t>(form.layer)].size() >= kMost;
}

const Recipe* Recipes::add(const CallForm& form, Recipe recipe) {
  if (const Recipe* known = find(form)) return known;
  auto& entries = by_layer_[static_cast<std::size_t>(form.layer)];
  return entries.emplace_back(Entry{form, std::make_unique<const Recipe>(std::move(recipe))}).recipe.get();
}

}  // namespace shardlings::front
