#include "memory_map/transformer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "base/file.h"
#include "base/toml_section.h"
#include "memory_map/settings.h"

namespace shardlings::memory_map {
namespace {

constexpr double kMostParameters = 1e17;  // bytes of them still fit into 64 bits

Transformer transformer_of(TomlSection section) {
  section.has_only({"name", "title", "source", "parameters", "layers", "hidden", "heads", "vocabulary", "sequence",
                    "tied", "blocks", "key_value_heads", "wide"});
  Transformer model;
  model.name = section.text("name");
  model.title = section.text("title");
  model.source = section.text("source");
  model.parameters = section.number_or("parameters", 0, 1);
  model.layers = section.small_or("layers", 0, 1);
  if (model.has_layers()) {
    model.hidden = section.integer("hidden", 1);
    model.heads = section.small("heads", 1);
    model.vocabulary = section.integer("vocabulary", 1);
    model.sequence = section.integer("sequence", 1);
    model.tied = section.flag_or("tied", true);
    if (section.has("blocks")) {
      const auto blocks = model::kBlocksWords.find(section.text("blocks"));
      if (!blocks) section.fail("blocks", "blocks are gpt or llama");
      model.blocks = *blocks;
    }
    model.key_value_heads = section.small_or("key_value_heads", 0, 1);
    model.wide = section.has("wide") ? section.integer("wide", 1) : 0;
    for (const char* key : {"key_value_heads", "wide"}) {
      const bool is_gpt = model.blocks == model::ModelSpec::Blocks::gpt;
      if (is_gpt && section.has(key)) section.fail(key, "only Llama's blocks have these: blocks = \"llama\"");
    }
  } else if (model.parameters == 0) {
    section.fail("name", model.name + " has neither layers nor parameters");
  } else {
    section.has_only({"name", "title", "source", "parameters", "layers"});  // the others would say nothing
  }
  return model;
}

double parameters_in(const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !(number >= 1) || number > kMostParameters) {
    throw std::invalid_argument(fmt::format("parameters takes a number such as 7.5e9, not '{}'", value));
  }
  return number;
}

void set_number(Transformer& model, const std::string& key, const std::string& value) {
  constexpr std::int64_t kMost = 1'000'000'000;
  if (key == "parameters") {
    model.parameters = parameters_in(value);
    return;
  }
  if (key == "blocks") {
    const auto blocks = model::kBlocksWords.find(value);
    if (!blocks) throw std::invalid_argument(fmt::format("blocks are gpt or llama, not '{}'", value));
    model.blocks = *blocks;
    return;
  }
  const std::int64_t number = whole_number(key, value, key == "tied" ? 0 : 1);
  if (number > kMost) throw std::invalid_argument(fmt::format("{} can be {} at most", key, kMost));
  if (key == "layers") {
    model.layers = static_cast<int>(number);
  } else if (key == "hidden") {
    model.hidden = number;
  } else if (key == "heads") {
    model.heads = static_cast<int>(number);
  } else if (key == "vocabulary") {
    model.vocabulary = number;
  } else if (key == "sequence") {
    model.sequence = number;
  } else if (key == "key_value_heads") {
    model.key_value_heads = static_cast<int>(number);
  } else if (key == "wide") {
    model.wide = number;
  } else if (key == "tied") {
    model.tied = number != 0;
  } else {
    throw std::invalid_argument(fmt::format(
        "a model has no '{}'; it has layers, hidden, heads, vocabulary, sequence and tied, of a Llama blocks=llama, "
        "key_value_heads and wide, or parameters",
        key));
  }
}

/// A model given by its numbers.
Transformer described(const std::string& text) {
  Transformer model;
  model.name = model.title = text;
  model.source = "given";
  for (const auto& [key, value] : key_values(text)) set_number(model, key, value);
  if (!model.has_layers() && model.parameters > 0) return model;
  std::vector<std::string> missing;
  if (model.layers == 0) missing.emplace_back("layers");
  if (model.hidden == 0) missing.emplace_back("hidden");
  if (model.heads == 0) missing.emplace_back("heads");
  if (model.vocabulary == 0) missing.emplace_back("vocabulary");
  if (model.sequence == 0) missing.emplace_back("sequence");
  if (!missing.empty()) {
    throw std::invalid_argument(fmt::format("the model '{}' lacks {}", text, fmt::join(missing, ", ")));
  }
  return model;
}

}  // namespace

void take_sizes(const Transformer& model, model::ModelSpec& spec) {
  spec.family = model::ModelSpec::Family::gpt;
  spec.layers = model.layers;
  spec.hidden = model.hidden;
  spec.heads = model.heads;
  spec.sequence = model.sequence;
  spec.outputs = model.vocabulary;
  spec.widths.clear();
  spec.blocks = model.blocks;
  spec.key_value_heads = model.key_value_heads;
  spec.wide = model.wide;
}

model::ModelStructure structure_of(const Transformer& model) {
  model::ModelSpec spec;
  take_sizes(model, spec);
  return model::make_structure(spec);
}

model::BlockPart block_of(const Transformer& model) {
  const bool is_llama = model.blocks == model::ModelSpec::Blocks::llama;
  const Count keys = model.key_value_heads > 0 ? model.hidden / model.heads * model.key_value_heads : model.hidden;
  return {model.hidden, model.heads, model.hidden, model.wide > 0 ? model.wide : 4 * model.hidden, keys, is_llama};
}

Count parameters_of(const Transformer& model) {
  if (!model.has_layers()) return static_cast<Count>(std::llround(model.parameters));
  return structure_of(model).total - (model.tied ? model.vocabulary * model.hidden : 0);
}

std::vector<Transformer> load_transformers(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  const std::string text = read_whole_file(file);
  try {
    const toml::table root = toml::parse(text);
    TomlSection all(root, name, "");
    all.has_only({"models"});
    std::vector<Transformer> models;
    for (TomlSection& section : all.sections("models")) models.push_back(transformer_of(section));
    return models;
  } catch (const toml::parse_error& error) {
    throw std::runtime_error(fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
}

Transformer find_transformer(const std::vector<Transformer>& known, const std::string& text) {
  if (text.find('=') != std::string::npos) return described(text);
  const auto found = std::find_if(known.begin(), known.end(), [&](const Transformer& m) { return m.name == text; });
  if (found != known.end()) return *found;
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const Transformer& model : known) names.push_back(model.name);
  throw std::invalid_argument(fmt::format(
      "There is no model '{}'. There are {}; or give its numbers: layers=12,hidden=768,heads=12,vocabulary=50257,"
      "sequence=1024 or parameters=7.5e9",
      text, fmt::join(names, ", ")));
}

}  // namespace shardlings::memory_map
