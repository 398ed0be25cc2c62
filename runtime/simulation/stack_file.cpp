#include "simulation/stack_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "base/file.h"
#include "base/toml_section.h"

namespace shardlings::simulation {
namespace {

using model::Elements;

template <class Enum, std::size_t N>
Enum enum_of(const TomlSection& section, const std::string& key, const std::string& word, const Words<Enum, N>& words) {
  if (const auto value = words.find(word)) return *value;
  section.fail(key, fmt::format("'{}' is none of {}", word, fmt::join(words.all(), ", ")));
}

Elements elements_in(TomlSection& section, const std::string& key) {
  Elements elements{};
  auto numbers = section.section(key);
  if (!numbers) return elements;
  for (const auto& [name, number] : numbers->all_numbers()) {
    elements[static_cast<std::size_t>(enum_of(*numbers, name, name, model::kExtentWords))] = number;
  }
  return elements;
}

model::StackRow row_in(TomlSection section) {
  section.has_only({"name", "product", "scores_products", "flash_products", "moves", "masks", "collective", "inner",
                    "llama", "weights"});
  model::StackRow row;
  row.name = section.text("name");
  const std::vector<std::string> product = section.texts_or_none("product");
  if (!product.empty()) {
    if (product.size() != 2) section.fail("product", "'product' has two widths: what goes in and what comes out");
    row.in = enum_of(section, "product", product[0], model::kWidthWords);
    row.out = enum_of(section, "product", product[1], model::kWidthWords);
  }
  row.scores_products = section.number_or("scores_products", 0, 0);
  row.flash_products = section.number_or("flash_products", 0, 0);
  row.moves = elements_in(section, "moves");
  row.masks = elements_in(section, "masks");
  row.exchange = enum_of(section, "collective", section.text_or("collective", "none"), model::kExchangeWords);
  row.inner = section.flag_or("inner", false);
  row.llama = section.flag_or("llama", false);
  row.weights = section.flag_or("weights", false);
  return row;
}

model::StackKept kept_in(TomlSection section) {
  section.has_only({"name", "elements", "masks", "inner"});
  return {section.text("name"), elements_in(section, "elements"), elements_in(section, "masks"),
          section.flag_or("inner", false)};
}

OnCluster cluster_in(TomlSection& section) {
  section.has_only({"cluster", "matmul", "memory", "intra_node", "inter_node", "rows", "mean_error", "worst_error",
                    "left_out_error"});
  const auto part = [&](const char* key) {
    return section.has(key) ? std::optional(section.number_or(key, 0, 0)) : std::nullopt;
  };
  OnCluster on;
  on.efficiency = {part("matmul"), part("memory"), part("intra_node"), part("inter_node")};
  on.rows = section.small_or("rows", 0, 1);
  on.mean_error = section.number_or("mean_error", 0, 0);
  on.worst_error = section.number_or("worst_error", 0, 0);
  on.left_out_error = section.number_or("left_out_error", 0, 0);
  return on;
}

StackFile parse_stack(const toml::table& table, const std::string& file) {
  TomlSection root(table, file, "");
  root.has_only({"name", "source", "sequence_parallel", "scatters_messages", "causal_flash", "workspace", "forward",
                 "backward", "kept", "on", "llama", "optimizer_bytes"});
  model::SoftwareStack stack;
  stack.name = root.text("name");
  root.text("source");
  stack.sequence_parallel = root.flag_or("sequence_parallel", false);
  stack.causal_flash = root.flag_or("causal_flash", false);
  stack.workspace = elements_in(root, "workspace");
  stack.optimizer_bytes = root.number_or("optimizer_bytes", 0, 0);
  for (const TomlSection& row : root.sections("forward")) stack.forward.push_back(row_in(row));
  for (const TomlSection& row : root.sections("backward")) stack.backward.push_back(row_in(row));
  for (const TomlSection& kept : root.sections("kept")) stack.kept.push_back(kept_in(kept));
  if (stack.forward.empty() || stack.backward.empty()) root.fail("forward", "a stack has [[forward]] and [[backward]]");
  StackFile read;
  read.knows_llama = root.flag_or("llama", false);
  read.scatters_messages = root.flag_or("scatters_messages", false);
  for (TomlSection& section : root.sections("on")) {
    const OnCluster on = cluster_in(section);
    read.on[section.text("cluster")] = on;
  }
  read.stack = std::make_shared<const model::SoftwareStack>(std::move(stack));
  return read;
}

}  // namespace

const OnCluster* StackFile::on_cluster(const std::string& name) const {
  const auto found = on.find(name);
  return found == on.end() ? nullptr : &found->second;
}

StackFile load_stack(const std::string& folder, const std::string& name) {
  const std::filesystem::path named(name);
  const bool is_file = named.extension() == ".toml";
  const std::filesystem::path path = is_file ? named : std::filesystem::path(folder) / (name + ".toml");
  const auto text = read_file(path.string());
  if (!text) {
    std::vector<std::string> known = {kOwnStack};
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string found = entry.path().stem().string();
      if (entry.path().extension() == ".toml" && found != kOwnStack) known.push_back(found);
    }
    std::sort(known.begin() + 1, known.end());
    throw std::runtime_error(fmt::format("there is no software stack '{}'; there are: {}, or a file NAME.toml", name,
                                         fmt::join(known, ", ")));
  }
  try {
    return parse_stack(toml::parse(*text), path.filename().string());
  } catch (const toml::parse_error& error) {
    throw std::runtime_error(
        fmt::format("{}:{}: {}", path.filename().string(), error.source().begin.line, error.description()));
  }
}

}  // namespace shardlings::simulation
