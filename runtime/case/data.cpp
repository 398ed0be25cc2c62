#include "case/data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "model/structure.h"

namespace shardlings::cases {
namespace {

/// What a stream of random numbers is for; with up to two numbers that tell streams of one purpose apart.
enum class Purpose : std::uint64_t { weights = 1, inputs, targets, order, integers, normals };

std::uint64_t stream_of(Purpose purpose, int first, int second = 0) {
  return static_cast<std::uint64_t>(purpose) << 56U | static_cast<std::uint64_t>(first) << 28U |
         static_cast<std::uint64_t>(second);
}

std::vector<float> normal_numbers(Count n, std::uint64_t seed, std::uint64_t stream) {
  std::vector<float> numbers(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < numbers.size(); i += 4) {
    const std::array<float, 4> four = normals(seed, i / 4, stream);
    std::copy_n(four.begin(), std::min<std::size_t>(4, numbers.size() - i), numbers.begin() + static_cast<Count>(i));
  }
  return numbers;
}

std::vector<std::int32_t> whole_numbers(Count n, Count bound, std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::int32_t>(below_at(static_cast<std::uint32_t>(bound), seed, i, stream));
  }
  return numbers;
}

bool is_norm_weight(std::string_view name) {
  return name == "ln1.weight" || name == "ln2.weight" || name == "norm.weight";
}

/// Makes weights of standard normal numbers. Biases and the weights of layer norms are far enough from 0 and 1 that a
/// mistake in them shows.
float weight_from(float normal, const Entry& entry) {
  constexpr float kNoise = 0.1F;
  if (is_norm_weight(entry.name)) return 1 + kNoise * normal;
  if (std::string_view(entry.name).ends_with("bias")) return kNoise * normal;
  return normal / std::sqrt(static_cast<float>(entry.cols));
}

Count rows_of_micro(const Case& kase) {
  return kase.model.sequence * kase.batch;
}

/// Leaves `counted` of the targets, at random places.
void hide_others(std::vector<std::int32_t>& targets, Count counted, std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::size_t> order(targets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(random_word_at(seed, a, stream), a) < std::pair(random_word_at(seed, b, stream), b);
  });
  for (auto i = static_cast<std::size_t>(counted); i < order.size(); ++i) targets[order[i]] = -1;
}

/// The head's weight as the embedding's table is.
void tie(const Case& kase, const model::LayerStructure& head, std::vector<float>& weights) {
  const Range tied = entry_of(head, "weight").range;
  const std::vector<float> first = weights_of(kase, 0);  // the table is its first matrix
  std::copy_n(first.begin(), tied.size(), weights.begin() + tied.begin);
}

}  // namespace

std::vector<float> weights_of(const Case& kase, int layer) {
  const model::ModelStructure model = model::make_structure(kase.model);
  const model::LayerStructure& structure = model.layers[static_cast<std::size_t>(layer)];
  std::vector<float> weights = normal_numbers(structure.range.size(), kase.seed, stream_of(Purpose::weights, layer));
  for (const Entry& entry : structure.entries) {
    for (Count i = entry.range.begin; i < entry.range.end; ++i) {
      float& weight = weights[static_cast<std::size_t>(i)];
      weight = weight_from(weight, entry);
    }
  }
  if (kase.model.tied && structure.type == model::LayerStructure::Type::head) tie(kase, structure, weights);
  return weights;
}

/// Where the i-th of n stands in an order that goes up and down: the least first, then the most, …; or the other way
/// round. A program that is right only where the first has the fewest, or each has more than the one before, is caught.
static Count place_of(Count i, Count n, bool most_first) {
  const Count place = i % 2 == 0 ? i / 2 : n - 1 - i / 2;
  return most_first ? n - 1 - place : place;
}

// Uneven: from nearly none to nearly all over all micro-batches of all batches; each batch has more or fewer than any
// other, so that sums by rank differ as well.
Count tokens_of_micro(const Case& kase, int batch, int micro) {
  const Count rows = rows_of_micro(kase);
  if (kase.empty_batch && batch == 0) return 0;
  if (!kase.uneven_tokens) return rows;
  const bool most_first = kase.seed % 2 == 1;
  const Count number = place_of(batch, kase.num_batches(), most_first) * kase.micro_batches +
                       place_of(micro, kase.micro_batches, most_first);
  const Count all = Count{kase.num_batches()} * kase.micro_batches;
  return std::max<Count>(1, rows * (2 * number + 1) / (2 * all));
}

MicroData micro_of(const Case& kase, int batch, int micro) {
  const Count rows = rows_of_micro(kase);
  const std::uint64_t inputs = stream_of(Purpose::inputs, batch, micro);
  MicroData data;
  if (kase.model.family == model::ModelSpec::Family::mlp) {
    data.inputs = normal_numbers(rows * kase.model.hidden, kase.seed, inputs);
  } else {
    data.ids = whole_numbers(rows, kase.model.outputs, kase.seed, inputs);
  }
  data.targets = whole_numbers(rows, kase.model.outputs, kase.seed, stream_of(Purpose::targets, batch, micro));
  data.tokens = tokens_of_micro(kase, batch, micro);
  if (data.tokens < rows) hide_others(data.targets, data.tokens, kase.seed, stream_of(Purpose::order, batch, micro));
  return data;
}

Count tokens_of_step(const Case& kase) {
  const Count all = Count{kase.num_batches()} * kase.micro_batches;
  if (!kase.uneven_tokens && !kase.empty_batch) return all * rows_of_micro(kase);  // each of thousands of ranks asks
  Count tokens = 0;
  for (int batch = 0; batch < kase.num_batches(); ++batch) {
    for (int micro = 0; micro < kase.micro_batches; ++micro) tokens += tokens_of_micro(kase, batch, micro);
  }
  return tokens;
}

std::vector<float> normals_of(const Case& kase, int which, Count n) {
  return normal_numbers(n, kase.seed, stream_of(Purpose::normals, which));
}

std::vector<float> integers_of(const Case& kase, int rank, Count n) {
  constexpr Count kLargest = 9;
  std::vector<float> values;
  for (std::int32_t value : whole_numbers(n, 2 * kLargest + 1, kase.seed, stream_of(Purpose::integers, rank))) {
    values.push_back(static_cast<float>(value - kLargest));
  }
  return values;
}

}  // namespace shardlings::cases
