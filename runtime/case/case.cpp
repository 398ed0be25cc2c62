#include "case/case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "front/clock/cluster_fields.h"
#include "model/software_stack.h"

namespace shardlings::cases {
namespace {

using Json = nlohmann::json;

/// The value of a key, or an exception that names the key.
template <class T>
T at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw std::runtime_error(fmt::format("case: key '{}' is missing", key));
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    throw std::runtime_error(fmt::format("case: key '{}' has the wrong type", key));
  }
}

/// Writes the numbers of a section of a cluster under their names. The rare ones are there only where they say
/// something.
struct FieldWriter {
  Json& json;
  std::string prefix;

  void operator()(const char* name, const auto& number) { json[prefix + name] = number; }
  void operator()(const char* name, const Nanos& number) { json[prefix + name] = number.value(); }
  void operator()(const char* name, const Bytes& number) { json[prefix + name] = number.value(); }
  void operator()(const char* name, const bool& number) {
    if (number) json[prefix + name] = true;
  }
  void operator()(const char* name, const std::optional<Nanos>& number) {
    if (number) json[prefix + name] = number->value();
  }
  void operator()(const char* name, const std::optional<double>& number) {
    if (number) json[prefix + name] = *number;
  }
};

struct FieldReader {
  const Json& json;
  std::string prefix;

  template <class Number>
  void operator()(const char* name, Number& number) {
    number = at<Number>(json, key(name).c_str());
  }
  void operator()(const char* name, Nanos& number) { number = Nanos(at<std::int64_t>(json, key(name).c_str())); }
  void operator()(const char* name, Bytes& number) { number = Bytes(at<std::int64_t>(json, key(name).c_str())); }
  void operator()(const char* name, bool& number) {
    number = json.contains(key(name)) && at<bool>(json, key(name).c_str());
  }
  void operator()(const char* name, std::optional<Nanos>& number) {
    if (json.contains(key(name))) number = Nanos(at<std::int64_t>(json, key(name).c_str()));
  }
  void operator()(const char* name, std::optional<double>& number) {
    if (json.contains(key(name))) number = at<double>(json, key(name).c_str());
  }
  std::string key(const char* name) const { return prefix + name; }
};

template <class Section>
constexpr bool kIsLink = std::is_same_v<std::remove_cvref_t<Section>, front::LinkSpeed>;

/// Links are objects of their own; the numbers of other sections stand beside one another.
template <class Section>
std::string prefix_of() {
  using Plain = std::remove_cvref_t<Section>;
  if (std::is_same_v<Plain, front::Host>) return "host_";
  if (std::is_same_v<Plain, front::Efficiency>) return "efficiency_";
  if (std::is_same_v<Plain, front::StoreSpeed>) return "store_";
  return std::is_same_v<Plain, front::Trees> ? "tree_" : "";
}

Json cluster_to_json(front::Cluster cluster) {
  Json json = {{"name", cluster.name}, {"source", cluster.source}, {"uses_table", cluster.uses_table}};
  each_field(cluster, FieldWriter{json, ""});
  each_section(cluster, [&](const char* name, auto& section) {
    Json& object = kIsLink<decltype(section)> ? json[name] : json;
    each_field(section, FieldWriter{object, prefix_of<decltype(section)>()});
  });
  return json;
}

front::Cluster cluster_from(const Json& object) {
  front::Cluster cluster;
  cluster.name = at<std::string>(object, "name");
  cluster.source = at<std::string>(object, "source");
  cluster.uses_table = at<bool>(object, "uses_table");
  each_field(cluster, FieldReader{object, ""});
  if (cluster.ranks_per_node < 1) throw std::runtime_error("case: key 'ranks_per_node' must be 1 or more");
  each_section(cluster, [&](const char* name, auto& section) {
    const Json part = kIsLink<decltype(section)> ? at<Json>(object, name) : object;
    each_field(section, FieldReader{part, prefix_of<decltype(section)>()});
  });
  return cluster;
}

Json model_to_json(const model::ModelSpec& model) {
  Json json = {{"family", model::kFamilyWords.of(model.family)},
               {"layers", model.layers},
               {"hidden", model.hidden},
               {"widths", model.widths},
               {"outputs", model.outputs},
               {"heads", model.heads},
               {"sequence", model.sequence},
               {"optimizer", model::kOptimizerWords.of(model.optimizer)},
               {"lr", model.lr},
               {"eps", model.eps},
               {"clip", model.clip}};
  if (model.tied) json["tied"] = true;
  if (model.blocks != model::ModelSpec::Blocks::gpt) {
    json["blocks"] = model::kBlocksWords.of(model.blocks);
    json["key_value_heads"] = model.key_value_heads;
    json["wide"] = model.wide;
  }
  return json;
}

template <class Enum, std::size_t N>
Enum value_at(const Json& object, const char* key, const Words<Enum, N>& words) {
  const auto word = at<std::string>(object, key);
  const auto value = words.find(word);
  if (value) return *value;
  throw std::runtime_error(
      fmt::format("case: key '{}' must be '{}', not '{}'", key, fmt::join(words.all(), "' or '"), word));
}

model::ModelSpec model_from(const Json& object) {
  model::ModelSpec model;
  model.family = value_at(object, "family", model::kFamilyWords);
  model.layers = at<int>(object, "layers");
  model.hidden = at<Count>(object, "hidden");
  model.widths = at<std::vector<Count>>(object, "widths");
  model.outputs = at<Count>(object, "outputs");
  model.heads = at<int>(object, "heads");
  model.sequence = at<Count>(object, "sequence");
  model.tied = object.contains("tied") && at<bool>(object, "tied");
  if (object.contains("blocks")) {
    model.blocks = value_at(object, "blocks", model::kBlocksWords);
    model.key_value_heads = at<int>(object, "key_value_heads");
    model.wide = at<Count>(object, "wide");
  }
  model.optimizer = value_at(object, "optimizer", model::kOptimizerWords);
  model.lr = at<float>(object, "lr");
  model.eps = at<float>(object, "eps");
  model.clip = at<float>(object, "clip");
  return model;
}

Json row_to_json(const model::StackRow& row) {
  return {{"name", row.name},
          {"in", model::kWidthWords.of(row.in)},
          {"out", model::kWidthWords.of(row.out)},
          {"scores_products", row.scores_products},
          {"flash_products", row.flash_products},
          {"moves", row.moves},
          {"masks", row.masks},
          {"exchange", model::kExchangeWords.of(row.exchange)},
          {"inner", row.inner},
          {"weights", row.weights}};
}

model::StackRow row_from(const Json& object) {
  model::StackRow row;
  row.name = at<std::string>(object, "name");
  row.in = value_at(object, "in", model::kWidthWords);
  row.out = value_at(object, "out", model::kWidthWords);
  row.scores_products = at<double>(object, "scores_products");
  row.flash_products = at<double>(object, "flash_products");
  row.moves = at<model::Elements>(object, "moves");
  row.masks = at<model::Elements>(object, "masks");
  row.exchange = value_at(object, "exchange", model::kExchangeWords);
  row.inner = at<bool>(object, "inner");
  row.weights = object.contains("weights") && at<bool>(object, "weights");
  return row;
}

Json stack_to_json(const model::SoftwareStack& stack) {
  Json json = {{"name", stack.name},
               {"forward", Json::array()},
               {"backward", Json::array()},
               {"kept", Json::array()},
               {"workspace", stack.workspace},
               {"causal_flash", stack.causal_flash},
               {"sequence_parallel", stack.sequence_parallel},
               {"optimizer_bytes", stack.optimizer_bytes}};
  for (const model::StackRow& row : stack.forward) json["forward"].push_back(row_to_json(row));
  for (const model::StackRow& row : stack.backward) json["backward"].push_back(row_to_json(row));
  for (const model::StackKept& kept : stack.kept) {
    json["kept"].push_back(
        {{"name", kept.name}, {"elements", kept.elements}, {"masks", kept.masks}, {"inner", kept.inner}});
  }
  return json;
}

std::shared_ptr<const model::SoftwareStack> stack_from(const Json& object) {
  auto stack = std::make_shared<model::SoftwareStack>();
  stack->name = at<std::string>(object, "name");
  for (const Json& row : at<Json>(object, "forward")) stack->forward.push_back(row_from(row));
  for (const Json& row : at<Json>(object, "backward")) stack->backward.push_back(row_from(row));
  for (const Json& kept : at<Json>(object, "kept")) {
    stack->kept.push_back({at<std::string>(kept, "name"), at<model::Elements>(kept, "elements"),
                           at<model::Elements>(kept, "masks"), at<bool>(kept, "inner")});
  }
  stack->workspace = at<model::Elements>(object, "workspace");
  stack->causal_flash = at<bool>(object, "causal_flash");
  stack->sequence_parallel = at<bool>(object, "sequence_parallel");
  stack->optimizer_bytes = at<double>(object, "optimizer_bytes");
  return stack;
}

Json execution_to_json(const model::Execution& execution) {
  Json json = {{"recompute", model::kRecomputeWords.of(execution.recompute)}};
  if (execution.stack) json["stack"] = stack_to_json(*execution.stack);
  return json;
}

model::Execution execution_from(const Json& object) {
  model::Execution execution;
  execution.recompute = value_at(object, "recompute", model::kRecomputeWords);
  if (object.contains("stack")) execution.stack = stack_from(at<Json>(object, "stack"));
  return execution;
}

Json deaths_to_json(const Case& kase) {
  Json list = Json::array();
  for (const front::Death& death : kase.deaths) {
    Json one = {{"rank", death.rank}};
    if (death.at) one["at_ns"] = death.at->value();
    if (death.call > 0) one["at_call"] = death.call;
    if (death.write > 0) one["in_write"] = death.write;
    list.push_back(one);
  }
  return {{"of", list}, {"detection_ns", kase.detection.value()}};
}

void deaths_from(const Json& json, Case& kase) {
  kase.detection = Nanos(at<std::int64_t>(json, "detection_ns"));
  for (const Json& one : at<Json>(json, "of")) {
    front::Death death{at<int>(one, "rank")};
    if (death.rank < 0 || death.rank >= kase.ranks)
      throw std::runtime_error("case: there is no rank that key 'rank' names");
    if (one.contains("at_ns")) death.at = Nanos(at<std::int64_t>(one, "at_ns"));
    if (one.contains("at_call")) death.call = at<int>(one, "at_call");
    if (one.contains("in_write")) death.write = at<int>(one, "in_write");
    kase.deaths.push_back(death);
  }
}

}  // namespace

double Case::number(const std::string& key) const {
  const auto found = numbers.find(key);
  if (found == numbers.end()) {
    throw std::runtime_error(
        fmt::format("the case '{}' has no number '{}': add it to `numbers` in puzzle.toml", name, key));
  }
  return found->second;
}

Count Case::integer(const std::string& key) const {
  const double value = number(key);
  if (value != std::floor(value) || std::abs(value) > 0x1p53) {
    throw std::runtime_error(fmt::format("the number '{}' of the case '{}' must be whole, not {}", key, name, value));
  }
  return static_cast<Count>(value);
}

const std::vector<double>& Case::list(const std::string& key) const {
  const auto found = lists.find(key);
  if (found == lists.end()) {
    throw std::runtime_error(
        fmt::format("the case '{}' has no list '{}': add it to `lists` in puzzle.toml", name, key));
  }
  return found->second;
}

std::string to_json(const Case& kase) {
  Json json = {{"puzzle", kase.puzzle},
               {"name", kase.name},
               {"hidden", kase.hidden},
               {"ranks", kase.ranks},
               {"model", model_to_json(kase.model)},
               {"batch", kase.batch},
               {"micro_batches", kase.micro_batches},
               {"uneven_tokens", kase.uneven_tokens},
               {"empty_batch", kase.empty_batch},
               {"batches", kase.batches},
               {"steps", kase.steps},
               {"seed", kase.seed},
               {"cluster", cluster_to_json(kase.cluster)},
               {"capacity", kase.capacity.value()},
               {"numbers", kase.numbers}};
  if (kase.question) json["question"] = true;
  if (!kase.deaths.empty()) json["deaths"] = deaths_to_json(kase);
  if (!kase.lists.empty()) json["lists"] = kase.lists;
  if (kase.traced) json["traced"] = *kase.traced;
  if (!kase.recipes) json["recipes"] = false;
  if (kase.folded) json["folded"] = true;
  if (!kase.execution.is_plain()) json["execution"] = execution_to_json(kase.execution);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Case case_from_json(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw std::runtime_error("case: not a JSON object");
  Case kase;
  kase.puzzle = at<std::string>(json, "puzzle");
  kase.name = at<std::string>(json, "name");
  kase.hidden = at<bool>(json, "hidden");
  kase.ranks = at<int>(json, "ranks");
  if (kase.ranks < 1) throw std::runtime_error("case: key 'ranks' must be 1 or more");
  kase.model = model_from(at<Json>(json, "model"));
  kase.batch = at<Count>(json, "batch");
  kase.micro_batches = at<int>(json, "micro_batches");
  kase.uneven_tokens = at<bool>(json, "uneven_tokens");
  kase.empty_batch = json.value("empty_batch", false);  // cases of older runs do not say so
  kase.batches = at<int>(json, "batches");
  if (kase.ranks % kase.num_batches() != 0) throw std::runtime_error("case: key 'batches' must divide 'ranks'");
  kase.steps = at<int>(json, "steps");
  kase.seed = at<std::uint64_t>(json, "seed");
  kase.cluster = cluster_from(at<Json>(json, "cluster"));
  kase.capacity = Bytes(at<std::int64_t>(json, "capacity"));
  if (json.contains("traced")) kase.traced = at<std::vector<int>>(json, "traced");
  if (json.contains("recipes")) kase.recipes = at<bool>(json, "recipes");
  kase.folded = json.contains("folded") && at<bool>(json, "folded");
  if (json.contains("execution")) kase.execution = execution_from(at<Json>(json, "execution"));
  if (json.contains("deaths")) deaths_from(at<Json>(json, "deaths"), kase);
  kase.numbers = at<std::map<std::string, double>>(json, "numbers");
  kase.question = json.contains("question") && at<bool>(json, "question");
  if (json.contains("lists")) kase.lists = at<std::map<std::string, std::vector<double>>>(json, "lists");
  return kase;
}

}  // namespace shardlings::cases
