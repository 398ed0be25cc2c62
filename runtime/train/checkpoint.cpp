// A line of JSON that says what follows, then the numbers of all layers: weights, m, v.
#include "train/checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/file.h"
#include "model/structure.h"

namespace shardlings::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kFormat = "shardlings checkpoint 1";

/// What two trainings must have in common.
Json identity(const Settings& settings, const Text& text) {
  const model::ModelSpec& model = settings.kase.model;
  return {{"layers", model.layers}, {"hidden", model.hidden},      {"heads", model.heads}, {"sequence", model.sequence},
          {"tied", model.tied},     {"vocabulary", model.outputs}, {"text", text.hash()}};
}

[[noreturn]] void cannot(const char* what, const std::string& path) {
  throw std::runtime_error(fmt::format("cannot {} the checkpoint {}: {}", what, path, std::strerror(errno)));
}

auto vectors(auto& layer) {
  return std::array{&layer.weights, &layer.m, &layer.v};
}

std::string bytes_of(const Checkpoint& checkpoint, const Json& head) {
  std::string bytes = head.dump() + "\n";
  for (const Checkpoint::Layer& layer : checkpoint.layers) {
    for (const auto* numbers : vectors(layer)) {
      bytes.append(reinterpret_cast<const char*>(numbers->data()), numbers->size() * sizeof(float));
    }
  }
  return bytes;
}

/// "hidden 64 instead of 32".
std::string differences(const Json& found, const Json& wanted) {
  std::string text;
  for (const auto& [key, value] : wanted.items()) {
    const Json other = found.contains(key) ? found[key] : Json();
    if (other == value) continue;
    text += fmt::format("{}{} {} instead of {}", text.empty() ? "" : ", ", key, other.dump(), value.dump());
  }
  return text;
}

Json head_of(std::istream& file, const std::string& path) {
  std::string line;
  std::getline(file, line);
  Json head = Json::parse(line, nullptr, false);
  if (!head.is_object() || head.value("format", "") != kFormat || !head.contains("model") || !head.contains("step")) {
    throw std::runtime_error(fmt::format("{} is not a checkpoint of ./shardlings train", path));
  }
  return head;
}

}  // namespace

Checkpoint empty_checkpoint(const Settings& settings) {
  Checkpoint checkpoint;
  for (const model::LayerStructure& layer : model::make_structure(settings.kase.model).layers) {
    const std::vector<float> zeros(static_cast<std::size_t>(layer.range.size()));
    checkpoint.layers.push_back({zeros, zeros, zeros});
  }
  return checkpoint;
}

void save(const std::string& path, const Checkpoint& checkpoint, const Settings& settings, const Text& text) {
  const Json head = {{"format", kFormat}, {"model", identity(settings, text)}, {"step", checkpoint.step}};
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  write_file_atomically(path, bytes_of(checkpoint, head));
}

Checkpoint load(const std::string& path, const Settings& settings, const Text& text) {
  std::ifstream file(path, std::ios::binary);
  if (!file) cannot("read", path);
  const Json head = head_of(file, path);
  const std::string other = differences(head["model"], identity(settings, text));
  if (!other.empty()) {
    throw std::runtime_error(fmt::format("the checkpoint {} is that of another model: {}", path, other));
  }
  Checkpoint checkpoint = empty_checkpoint(settings);
  checkpoint.step = head["step"].get<int>();
  for (Checkpoint::Layer& layer : checkpoint.layers) {
    for (auto* numbers : vectors(layer)) {
      file.read(reinterpret_cast<char*>(numbers->data()),
                static_cast<std::streamsize>(numbers->size() * sizeof(float)));
    }
  }
  if (!file || file.peek() != std::istream::traits_type::eof()) {
    throw std::runtime_error(fmt::format("the checkpoint {} is damaged: it has another length than its model", path));
  }
  return checkpoint;
}

}  // namespace shardlings::train
