#include "grading/verdict/shown.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/dtype.h"
#include "base/words.h"

namespace shardlings::grading::verdict {
namespace {

using Json = nlohmann::ordered_json;
using front::Shown;
using front::ShownRow;

constexpr Words<DType, kNumDTypes> kDTypeWords{
    {name_of(DType::f32), name_of(DType::bf16), name_of(DType::i32), name_of(DType::e4m3), name_of(DType::e8m0)}};
constexpr Words<Kind, kNumKinds> kKindWords{{name_of(Kind::parameter), name_of(Kind::gradient),
                                             name_of(Kind::optimizer), name_of(Kind::activation), name_of(Kind::buffer),
                                             name_of(Kind::other)}};
constexpr Words<front::Memory, front::kMemories> kMemoryWords{{"device", "host"}};

/// What no JSON number can be is a word.
Json element_to_json(float x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

float element_from(const Json& json) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!json.is_string()) return json.get<float>();
  const auto word = json.get<std::string>();
  if (word == "nan") return std::numeric_limits<float>::quiet_NaN();
  return word == "-inf" ? -kInfinity : kInfinity;
}

Json row_to_json(const ShownRow& row) {
  Json values = Json::array();
  for (const float x : row.values) values.push_back(element_to_json(x));
  return {{"row", row.row}, {"values", std::move(values)}};
}

ShownRow row_from(const Json& json) {
  ShownRow row;
  row.row = json.at("row").get<Count>();
  for (const Json& x : json.at("values")) row.values.push_back(element_from(x));
  return row;
}

Json one_to_json(const ShownByRanks& one) {
  const Shown& what = one.what;
  Json json = {{"ranks", one.ranks},
               {"label", what.label},
               {"where", {{"file", what.file}, {"line", what.line}}},
               {"empty", !what.there}};
  if (!what.there) return json;
  Json shape = Json::array(), rows = Json::array();
  for (int i = 0; i < what.shape.rank(); ++i) shape.push_back(what.shape[i]);
  for (const ShownRow& row : what.rows) rows.push_back(row_to_json(row));
  json.update({{"shape", std::move(shape)},
               {"dtype", name_of(what.dtype)},
               {"kind", name_of(what.kind)},
               {"memory", kMemoryWords.of(what.memory)},
               {"layer", what.layer},
               {"micro_batch", what.micro},
               {"nan", what.nan},
               {"infinite", what.infinite},
               {"min", what.min},
               {"max", what.max},
               {"mean", what.mean},
               {"norm", what.norm},
               {"rows", std::move(rows)}});
  return json;
}

template <class Enum, std::size_t N>
Enum named(const Json& json, const char* key, const Words<Enum, N>& words) {
  const auto value = words.find(json.at(key).get<std::string>());
  if (!value) throw std::runtime_error(std::string("this is no verdict: something is wrong with ") + key);
  return *value;
}

Shape shape_from(const Json& json) {
  const auto dims = json.get<std::vector<Count>>();
  switch (dims.size()) {
    case 0: return {};
    case 1: return dims[0];
    case 2: return {dims[0], dims[1]};
    case 3: return {dims[0], dims[1], dims[2]};
    case 4: return {dims[0], dims[1], dims[2], dims[3]};
    default: throw std::runtime_error("this is no verdict: a shape has too many extents");
  }
}

ShownByRanks one_from(const Json& json) {
  ShownByRanks one;
  one.ranks = json.at("ranks").get<std::vector<int>>();
  Shown& what = one.what;
  what.label = json.at("label").get<std::string>();
  what.file = json.at("where").at("file").get<std::string>();
  what.line = json.at("where").at("line").get<int>();
  what.there = !json.at("empty").get<bool>();
  if (!what.there) return one;
  what.shape = shape_from(json.at("shape"));
  what.dtype = named(json, "dtype", kDTypeWords);
  what.kind = named(json, "kind", kKindWords);
  what.memory = named(json, "memory", kMemoryWords);
  what.layer = json.at("layer").get<int>();
  what.micro = json.at("micro_batch").get<int>();
  what.nan = json.at("nan").get<Count>();
  what.infinite = json.at("infinite").get<Count>();
  what.min = json.at("min").get<double>();
  what.max = json.at("max").get<double>();
  what.mean = json.at("mean").get<double>();
  what.norm = json.at("norm").get<double>();
  for (const Json& row : json.at("rows")) what.rows.push_back(row_from(row));
  return one;
}

/// How far each rank's shows have been taken.
using Heads = std::vector<std::size_t>;

/// The rank that has had the fewest turns, the first of several; nothing if all are through.
std::optional<std::size_t> next_rank(const std::vector<front::RankReport>& ranks, const Heads& heads) {
  std::optional<std::size_t> next;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (heads[rank] == ranks[rank].shows.kept.size()) continue;
    if (!next || heads[rank] < heads[*next]) next = rank;
  }
  return next;
}

}  // namespace

std::vector<ShownByRanks> by_ranks(const std::vector<front::RankReport>& ranks) {
  std::vector<ShownByRanks> all;
  Heads heads(ranks.size());
  while (const auto next = next_rank(ranks, heads)) {
    ShownByRanks& one = all.emplace_back();
    one.what = ranks[*next].shows.kept[heads[*next]];
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const std::vector<Shown>& kept = ranks[rank].shows.kept;
      if (heads[rank] == kept.size() || kept[heads[rank]] != one.what) continue;
      one.ranks.push_back(static_cast<int>(rank));
      ++heads[rank];
    }
  }
  return all;
}

Json shown_to_json(const std::vector<ShownByRanks>& shown) {
  Json json = Json::array();
  for (const ShownByRanks& one : shown) json.push_back(one_to_json(one));
  return json;
}

std::vector<ShownByRanks> shown_from_json(const Json& json) {
  std::vector<ShownByRanks> shown;
  for (const Json& one : json) shown.push_back(one_from(one));
  return shown;
}

}  // namespace shardlings::grading::verdict
