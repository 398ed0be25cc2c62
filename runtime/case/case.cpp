#include "case/case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

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

Nanos nanos_at(const Json& object, const char* key) {
  return Nanos(at<std::int64_t>(object, key));
}

Json link_to_json(const front::LinkSpeed& link) {
  return {{"latency_ns", link.latency.value()}, {"bytes_per_second", link.bytes_per_second}};
}

front::LinkSpeed link_from(const Json& object) {
  return {nanos_at(object, "latency_ns"), at<double>(object, "bytes_per_second")};
}

Json cluster_to_json(const front::Cluster& cluster) {
  Json json = {{"name", cluster.name},
               {"source", cluster.source},
               {"ranks_per_node", cluster.ranks_per_node},
               {"device_memory", cluster.device_memory.value()},
               {"uses_table", cluster.uses_table},
               {"forward_ns", cluster.table.forward.value()},
               {"backward_ns", cluster.table.backward.value()},
               {"loss_ns", cluster.table.loss.value()},
               {"update_ns", cluster.table.update.value()},
               {"flops_per_second", cluster.roofline.flops_per_second},
               {"flops_per_second_bf16", cluster.roofline.flops_per_second_bf16},
               {"memory_bytes_per_second", cluster.roofline.memory_bytes_per_second},
               {"launch_ns", cluster.roofline.launch.value()},
               {"intra_node", link_to_json(cluster.links[0])},
               {"inter_node", link_to_json(cluster.links[1])},
               {"to_host", link_to_json(cluster.host_links[0])},
               {"to_device", link_to_json(cluster.host_links[1])},
               {"host_memory", cluster.host.memory.value()},
               {"host_bytes_per_second", cluster.host.bytes_per_second}};
  // Rare, so they are there only where they say something.
  if (cluster.table.per_sequence) json["per_sequence"] = true;
  if (cluster.collective) json["collective_ns"] = cluster.collective->value();
  return json;
}

front::Cluster cluster_from(const Json& object) {
  front::Cluster cluster;
  cluster.name = at<std::string>(object, "name");
  cluster.source = at<std::string>(object, "source");
  cluster.ranks_per_node = at<int>(object, "ranks_per_node");
  if (cluster.ranks_per_node < 1) throw std::runtime_error("case: key 'ranks_per_node' must be 1 or more");
  cluster.device_memory = Bytes(at<std::int64_t>(object, "device_memory"));
  cluster.uses_table = at<bool>(object, "uses_table");
  cluster.table = {nanos_at(object, "forward_ns"), nanos_at(object, "backward_ns"), nanos_at(object, "loss_ns"),
                   nanos_at(object, "update_ns"), object.contains("per_sequence") && at<bool>(object, "per_sequence")};
  if (object.contains("collective_ns")) cluster.collective = nanos_at(object, "collective_ns");
  cluster.roofline = {at<double>(object, "flops_per_second"), at<double>(object, "flops_per_second_bf16"),
                      at<double>(object, "memory_bytes_per_second"), nanos_at(object, "launch_ns")};
  cluster.links = {link_from(at<Json>(object, "intra_node")), link_from(at<Json>(object, "inter_node"))};
  cluster.host_links = {link_from(at<Json>(object, "to_host")), link_from(at<Json>(object, "to_device"))};
  cluster.host = {Bytes(at<std::int64_t>(object, "host_memory")), at<double>(object, "host_bytes_per_second")};
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
  model.optimizer = value_at(object, "optimizer", model::kOptimizerWords);
  model.lr = at<float>(object, "lr");
  model.eps = at<float>(object, "eps");
  model.clip = at<float>(object, "clip");
  return model;
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

std::string to_json(const Case& kase) {
  const Json json = {{"puzzle", kase.puzzle},
                     {"name", kase.name},
                     {"hidden", kase.hidden},
                     {"ranks", kase.ranks},
                     {"model", model_to_json(kase.model)},
                     {"batch", kase.batch},
                     {"micro_batches", kase.micro_batches},
                     {"uneven_tokens", kase.uneven_tokens},
                     {"batches", kase.batches},
                     {"steps", kase.steps},
                     {"seed", kase.seed},
                     {"cluster", cluster_to_json(kase.cluster)},
                     {"capacity", kase.capacity.value()},
                     {"numbers", kase.numbers}};
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
  kase.batches = at<int>(json, "batches");
  if (kase.ranks % kase.num_batches() != 0) throw std::runtime_error("case: key 'batches' must divide 'ranks'");
  kase.steps = at<int>(json, "steps");
  kase.seed = at<std::uint64_t>(json, "seed");
  kase.cluster = cluster_from(at<Json>(json, "cluster"));
  kase.capacity = Bytes(at<std::int64_t>(json, "capacity"));
  kase.numbers = at<std::map<std::string, double>>(json, "numbers");
  return kase;
}

}  // namespace shardlings::cases
