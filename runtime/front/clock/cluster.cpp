#include "front/clock/cluster.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "base/file.h"

namespace shardlings::front {
namespace {

double number(const toml::table& table, const std::string& cluster, const char* key) {
  const auto value = table[key].value<double>();
  if (!value || !(*value >= 0)) {
    throw std::runtime_error(fmt::format("cluster {}: {} must be a number of at least 0", cluster, key));
  }
  return *value;
}

Nanos nanos(const toml::table& table, const std::string& cluster, const char* key) {
  return Nanos(static_cast<std::int64_t>(number(table, cluster, key)));
}

Bytes gibibytes(const toml::table& table, const std::string& cluster, const char* key) {
  return Bytes(static_cast<std::int64_t>(number(table, cluster, key) * (1LL << 30)));
}

const toml::table& section(const toml::table& root, const std::string& cluster, const char* key) {
  const toml::table* table = root[key].as_table();
  if (!table) throw std::runtime_error(fmt::format("cluster {}: section [{}] is missing", cluster, key));
  return *table;
}

LinkSpeed link_of(const toml::table& links, const std::string& cluster, const char* key) {
  const toml::table& table = section(links, cluster, key);
  return {nanos(table, cluster, "latency_ns"), number(table, cluster, "gb_per_s") * 1e9};
}

}  // namespace

Cluster parse_cluster(const std::string& text, const std::string& name) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw std::runtime_error(
        fmt::format("cluster {}: line {}: {}", name, error.source().begin.line, error.description()));
  }
  Cluster cluster;
  cluster.name = root["name"].value_or(name);
  cluster.source = root["source"].value_or(std::string());
  cluster.ranks_per_node = static_cast<int>(number(root, name, "ranks_per_node"));
  if (cluster.ranks_per_node < 1)
    throw std::runtime_error(fmt::format("cluster {}: ranks_per_node must be 1 or more", name));
  cluster.device_memory = gibibytes(root, name, "device_memory_gib");
  cluster.uses_table = root.contains("table");
  if (cluster.uses_table) {
    const toml::table& table = section(root, name, "table");
    cluster.table = {nanos(table, name, "forward_ns"), nanos(table, name, "backward_ns"), nanos(table, name, "loss_ns"),
                     nanos(table, name, "update_ns"), table["per_sequence"].value_or(false)};
  } else {
    const toml::table& roof = section(root, name, "roofline");
    cluster.roofline = {number(roof, name, "tflops") * 1e12, number(roof, name, "tflops_bf16") * 1e12,
                        number(roof, name, "memory_gb_per_s") * 1e9, nanos(roof, name, "launch_ns")};
  }
  const toml::table& links = section(root, name, "links");
  cluster.links = {link_of(links, name, "intra_node"), link_of(links, name, "inter_node")};
  cluster.host_links = {link_of(links, name, "device_to_host"), link_of(links, name, "host_to_device")};
  const toml::table& host = section(root, name, "host");
  cluster.host.bytes_per_second = number(host, name, "gb_per_s") * 1e9;
  if (host.contains("memory_gib")) cluster.host.memory = gibibytes(host, name, "memory_gib");
  if (links.contains("collective_ns")) cluster.collective = nanos(links, name, "collective_ns");
  return cluster;
}

Cluster load_cluster(const std::string& folder, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(folder) / (name + ".toml");
  const auto text = read_file(path.string());
  if (!text) {
    std::vector<std::string> known;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".toml") known.push_back(entry.path().stem().string());
    }
    std::sort(known.begin(), known.end());
    throw std::runtime_error(fmt::format("there is no cluster '{}'; there are: {}", name, fmt::join(known, ", ")));
  }
  return parse_cluster(*text, name);
}

}  // namespace shardlings::front
