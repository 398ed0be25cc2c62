// A line of JSON that says what follows, then the numbers of all layers: weights, m, v; then 16 hexadecimal digits, the
// checksum of all that stands before.
#include "train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/file.h"
#include "base/hash.h"
#include "model/structure.h"

namespace shardlings::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kFormat = "shardlings checkpoint 2";
/// The same without a checksum.
constexpr const char* kFirstFormat = "shardlings checkpoint 1";
constexpr std::size_t kChecksum = 16;
constexpr std::size_t kMostHead = std::size_t{1} << 16U;

/// What two trainings must have in common.
Json identity(const Settings& settings, const Text& text) {
  const model::ModelSpec& model = settings.kase.model;
  return {{"layers", model.layers}, {"hidden", model.hidden},      {"heads", model.heads}, {"sequence", model.sequence},
          {"tied", model.tied},     {"vocabulary", model.outputs}, {"text", text.hash()}};
}

[[noreturn]] void is_damaged(const std::string& path, const std::string& how) {
  throw UnfitCheckpoint(fmt::format("the checkpoint {} is damaged: {}", path, how));
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
  return bytes + content_hash(bytes);
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

/// The first line, if it is one; it does not say yet that the rest is whole.
Json head_of(const std::string& line, const std::string& path) {
  const Json head = Json::parse(line, nullptr, false);
  const bool is_head = head.is_object() && head.value("format", Json()).is_string() && head.contains("model") &&
                       head["model"].is_object() && head.contains("step");
  const std::string format = is_head ? head["format"].get<std::string>() : "";
  if (format == kFormat || format == kFirstFormat) return head;
  if (format.starts_with("shardlings checkpoint")) {
    throw UnfitCheckpoint(fmt::format("the checkpoint {} was made by another version of shardlings", path));
  }
  throw UnfitCheckpoint(fmt::format("{} is not a checkpoint of ./shardlings train", path));
}

int step_of(const Json& head, const std::string& path) {
  const Json& step = head["step"];
  const bool is_number = step.is_number_integer();
  if (is_number && step.get<std::int64_t>() >= 0 && step.get<std::int64_t>() <= kMostSteps) return step.get<int>();
  is_damaged(path, fmt::format("it says that {} steps were made", step.dump()));
}

/// Of the file, as its head and its model want it.
void check_size(std::size_t size, std::size_t wanted, const std::string& path) {
  if (size == wanted) return;
  is_damaged(path, fmt::format("it has {} bytes, and its model makes {}", size, wanted));
}

}  // namespace

UnfitCheckpoint::UnfitCheckpoint(const std::string& why)
    : std::runtime_error(why + "\nBegin anew with --fresh, or name another file: --checkpoint FILE.") {}

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
  std::error_code error;
  // What is no file, such as a pipe, might never come to an end, nor even begin.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    throw UnfitCheckpoint(fmt::format("{} is no file, and so no checkpoint of ./shardlings train", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UnfitCheckpoint(fmt::format("cannot read the checkpoint {}: {}", path, std::strerror(errno)));
  std::string line(kMostHead, 0);
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  line.resize(std::min(line.find('\n'), line.size()));
  const Json head = head_of(line, path);
  const std::string other = differences(head["model"], identity(settings, text));
  if (!other.empty()) {
    throw UnfitCheckpoint(fmt::format("the checkpoint {} is that of another model: {}", path, other));
  }
  Checkpoint checkpoint = empty_checkpoint(settings);
  checkpoint.step = step_of(head, path);
  const bool has_checksum = head["format"] == kFormat;
  std::size_t end = line.size() + 1;
  for (Checkpoint::Layer& layer : checkpoint.layers) {
    for (const auto* numbers : vectors(layer)) end += numbers->size() * sizeof(float);
  }
  check_size(fs::file_size(path), end + (has_checksum ? kChecksum : 0), path);
  const std::string bytes = read_whole_file(path);
  if (has_checksum && content_hash(std::string_view(bytes).substr(0, end)) != bytes.substr(end)) {
    is_damaged(path, "its checksum is another one");
  }
  std::size_t at = line.size() + 1;
  for (Checkpoint::Layer& layer : checkpoint.layers) {
    for (auto* numbers : vectors(layer)) {
      std::memcpy(numbers->data(), bytes.data() + at, numbers->size() * sizeof(float));
      at += numbers->size() * sizeof(float);
    }
  }
  return checkpoint;
}

}  // namespace shardlings::train
