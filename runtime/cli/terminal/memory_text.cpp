#include "cli/terminal/memory_text.h"

#include <fmt/format.h>

#include <cmath>

namespace shardlings::cli::terminal {

using memory_map::Parallel;
using memory_map::Training;
using memory_map::Transformer;

namespace {

constexpr double kThousand = 1000;

/// `number` divided by 1000 until it is below 1000, and the name of the unit.
std::string in_units(std::int64_t number, const char* const (&units)[6]) {
  constexpr std::size_t kLargest = 5;
  auto value = static_cast<double>(number);
  std::size_t unit = 0;
  while (value >= kThousand && unit < kLargest) {
    value /= kThousand;
    ++unit;
  }
  return fmt::format("{:.{}g} {}", value, value < kThousand - 1 || unit == kLargest ? 3 : 4, units[unit]);
}

std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string count_text(Count n) {
  if (n < 10'000) return std::to_string(n);
  return in_units(n, {"", "k", "M", "G", "T", "P"});
}

std::string size_text(Bytes bytes) {
  return in_units(bytes.value(), {"B", "kB", "MB", "GB", "TB", "PB"});
}

std::string table_gigabytes(Bytes bytes) {
  const double gigabytes = static_cast<double>(bytes.value()) / 1e9;
  if (gigabytes >= 100) return fmt::format("{:.0f}", std::floor(gigabytes));
  const double places = gigabytes >= 10 ? 10 : 100;
  return without_zeros(fmt::format("{:.2f}", std::floor(gigabytes * places + 0.5) / places));
}

std::string shape_text(const Transformer& model) {
  if (!model.has_layers()) return "only the number of parameters is known";
  std::string heads = fmt::format("{} heads", model.heads);
  if (model.blocks == model::ModelSpec::Blocks::llama) {
    const int keys = model.key_value_heads > 0 ? model.key_value_heads : model.heads;
    heads += fmt::format(" ({} of keys), w = {}", keys, model.wide > 0 ? model.wide : 4 * model.hidden);
  }
  return fmt::format("{} blocks, h = {}, {}, V = {}, s = {}", model.layers, model.hidden, heads, model.vocabulary,
                     model.sequence);
}

std::string parallel_text(const Parallel& parallel) {
  std::string text = parallel.ranks() == 1 ? "1 rank: " : fmt::format("{} ranks: ", parallel.ranks());
  text += fmt::format("dp {}", parallel.dp);
  if (parallel.tp > 1) text += fmt::format(", tp {}{}", parallel.tp, parallel.sp ? " with sequence parallelism" : "");
  if (parallel.pp > 1) text += fmt::format(", pp {}", parallel.pp);
  if (parallel.virtual_stages > 1) text += fmt::format(" with {} chunks a rank", parallel.virtual_stages);
  static const char* const kStages[] = {"states on every replica", "ZeRO-1: optimizer states divided by ",
                                        "ZeRO-2: optimizer states and gradients divided by ",
                                        "ZeRO-3: weights, gradients and optimizer states divided by "};
  text += std::string("; ") + kStages[parallel.zero];
  if (parallel.zero > 0) text += parallel.shard > 0 ? fmt::format("{} of dp", parallel.shard) : "dp";
  return text;
}

std::string training_text(const Transformer& model, const Training& training) {
  std::string text = fmt::format("bytes of a parameter: weight {}, gradient {}, optimizer {}{}",
                                 training.precision.weight, training.precision.gradient, training.optimizer_bytes(),
                                 training.precision.master > 0 ? " (with an f32 copy)" : "");
  if (!model.has_layers()) return text;
  const Count sequence = training.sequence > 0 ? training.sequence : model.sequence;
  const bool is_off = training.recompute == model::Recompute::off;
  const std::string recomputed =
      is_off ? "nothing recomputed" : std::string(model::kRecomputeWords.of(training.recompute)) + " recomputation";
  text += fmt::format("\nmicro-batch: {} x {} tokens, {} bytes an activation, {}", training.micro_batch, sequence,
                      training.precision.activation, recomputed);
  return text;
}

}  // namespace shardlings::cli::terminal
