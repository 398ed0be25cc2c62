#include "front/clock/cluster.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <vector>

#include "base/file.h"
#include "base/toml_section.h"
#include "front/clock/cluster_fields.h"

namespace shardlings::front {
namespace {

std::string key_of(const char* name, const Bytes& /*number*/) {
  return std::string(name) + "_mib";
}
template <class Number>
std::string key_of(const char* name, const Number& /*number*/) {
  return name;
}

/// Takes the numbers that a section has. `whole`: it must have all of them, but for those that few clusters have.
class FieldReader {
 public:
  FieldReader(TomlSection& section, bool whole) : section_(section), whole_(whole) {}

  void operator()(const char* name, auto& number) {
    const std::string key = key_of(name, number);
    if (section_.has(key)) {
      read(key, number);
    } else if (whole_ && !is_rare(number)) {
      section_.fail(key, fmt::format("'{}' is missing", key));
    }
  }

 private:
  static bool is_rare(const bool& /*number*/) { return true; }
  template <class Number>
  static bool is_rare(const std::optional<Number>& /*number*/) {
    return true;
  }
  template <class Number>
  static bool is_rare(const Number& /*number*/) {
    return false;
  }

  void read(const std::string& key, int& number) { number = section_.small(key, 1); }
  void read(const std::string& key, bool& number) { number = section_.flag_or(key, number); }
  void read(const std::string& key, double& number) { number = section_.number_or(key, number, 1); }
  void read(const std::string& key, Nanos& number) { number = Nanos(section_.integer(key, 0)); }
  void read(const std::string& key, std::optional<Nanos>& number) { number = Nanos(section_.integer(key, 0)); }
  void read(const std::string& key, std::optional<double>& number) { number = section_.number_or(key, 0, 0); }
  void read(const std::string& key, Bytes& number) {
    number = Bytes(static_cast<std::int64_t>(section_.number_or(key, 0, 0) * (1 << 20)));
  }

  TomlSection& section_;
  bool whole_;
};

std::vector<std::string> field_keys(auto section) {
  std::vector<std::string> keys;
  each_field(section, [&](const char* name, const auto& number) { keys.push_back(key_of(name, number)); });
  return keys;
}

/// The fields of the section of that name, if it is there.
bool read_section(TomlSection& root, const char* name, auto& fields, bool whole) {
  auto section = root.section(name);
  if (!section) return false;
  section->has_only(field_keys(fields));
  each_field(fields, FieldReader(*section, whole));
  return true;
}

/// Sections that say which costs hold, or that few clusters have.
bool may_be_missing(const std::string& section) {
  return section == "table" || section == "roofline" || section == "trees" || section == "efficiency" ||
         section == "store";
}

/// The sections that are there. A cluster's calls cost what the last of table and roofline says.
std::set<std::string> read_sections(TomlSection& root, Cluster& cluster, bool whole) {
  std::set<std::string> there;
  each_section(cluster, [&](const char* name, auto& fields) {
    if (read_section(root, name, fields, whole)) there.insert(name);
  });
  if (there.contains("table") || there.contains("roofline")) cluster.uses_table = there.contains("table");
  if (cluster.table.weights_part() > cluster.table.backward) {
    root.fail("table", "backward_weights_ns is a part of backward_ns, and cannot be more");
  }
  return there;
}

Cluster read_cluster(TomlSection& root, const std::string& name) {
  std::vector<std::string> keys = cluster_keys();
  keys.insert(keys.end(), {"name", "source"});
  root.has_only(keys);
  Cluster cluster;
  cluster.name = root.text_or("name", name);
  cluster.source = root.text_or("source", "");
  each_field(cluster, FieldReader(root, true));
  const std::set<std::string> there = read_sections(root, cluster, true);
  if (there.contains("table") == there.contains("roofline")) {
    root.fail("table", "there must be one of [table] and [roofline]");
  }
  each_section(cluster, [&](const std::string& section, const auto&) {
    if (!may_be_missing(section) && !there.contains(section))
      root.fail(section, fmt::format("[{}] is missing", section));
  });
  if (there.contains("trees") && !cluster.trees.known()) root.fail("trees", "[trees] needs all of its numbers");
  return cluster;
}

/// Names that a case has for two links at once.
constexpr const char* kLink = "link";
constexpr const char* kHostLink = "host_link";

}  // namespace

std::vector<std::string> cluster_keys() {
  Cluster cluster;
  std::vector<std::string> keys = field_keys(cluster);
  each_section(cluster, [&](const char* name, const auto&) { keys.emplace_back(name); });
  return keys;
}

void change_cluster(TomlSection& section, Cluster& cluster) {
  each_field(cluster, FieldReader(section, false));
  for (LinkSpeed& link : cluster.links) read_section(section, kLink, link, false);
  for (LinkSpeed& link : cluster.host_links) read_section(section, kHostLink, link, false);
  read_sections(section, cluster, false);
}

Cluster parse_cluster(const std::string& text, const std::string& name) {
  const std::string file = name + ".toml";
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw std::runtime_error(fmt::format("{}:{}: {}", file, error.source().begin.line, error.description()));
  }
  TomlSection root(table, file, "");
  return read_cluster(root, name);
}

Cluster load_cluster(const std::string& folder, const std::string& name, Speeds speeds) {
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
  Cluster cluster = parse_cluster(*text, name);
  if (speeds == Speeds::peak) cluster.efficiency = {};
  return cluster;
}

}  // namespace shardlings::front
