#include "cli/learner/case_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace shardlings::cli::learner {

namespace {

/// "1 token", "8 tokens"; `ending` makes it more than one.
std::string so_many(std::int64_t number, const char* what, const char* ending = "s") {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : ending);
}

std::string ranks_and_batch(const cases::Case& kase) {
  std::string text = "N = " + so_many(kase.ranks, "rank");
  if (!kase.has_model()) return text;
  if (kase.numbers.contains("batch")) {  // a puzzle that counts the sequences of a step itself
    text += "; sequences of s = " + so_many(kase.model.sequence, "token");
  } else {
    text += fmt::format("; each has m = {} of b = {} of s = {}", so_many(kase.micro_batches, "micro-batch", "es"),
                        so_many(kase.batch, "sequence"), so_many(kase.model.sequence, "token"));
  }
  if (kase.steps > 1) text += fmt::format("; {} steps", kase.steps);
  return text;
}

/// "gpus = 8, 16, 32". Of long lists it is enough to know that they are there.
std::vector<std::string> lists_text(const cases::Case& kase) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> facts, longer;
  for (const auto& [name, values] : kase.lists) {
    if (values.size() > kMost) {
      longer.push_back(name);
    } else {
      facts.push_back(fmt::format("{} = {}", name, fmt::join(values, ", ")));
    }
  }
  if (!longer.empty()) facts.push_back(fmt::format("in puzzle.toml, with more numbers: {}", fmt::join(longer, ", ")));
  return facts;
}

/// "272, 272, 272, 136".
std::string weights_text(const model::ModelStructure& structure) {
  std::vector<Count> sizes;
  for (const model::LayerStructure& layer : structure.layers) sizes.push_back(layer.range.end - layer.range.begin);
  return fmt::format("{}", fmt::join(sizes, ", "));
}

bool has_attention(const cases::Manifest& puzzle) {
  return std::ranges::any_of(puzzle.products, [](cases::Product product) {
    return product == cases::Product::attention || product == cases::Product::partial_attention;
  });
}

/// Of a puzzle whose harness has mathematics of its own. Heads are nothing to one that has no attention.
std::string sizes_text(const model::ModelSpec& model, bool with_heads) {
  std::string text = fmt::format("width h = {}", model.hidden);
  if (model.layers > 1) text = fmt::format("L = {}, ", so_many(model.layers, "layer")) + text;
  return with_heads ? text + ", " + so_many(model.heads, "head") : text;
}

std::string model_text(const cases::Case& kase, const cases::Manifest& puzzle) {
  if (puzzle.model_use == cases::ModelUse::sizes) return sizes_text(kase.model, has_attention(puzzle));
  const model::ModelStructure structure = model::make_structure(kase.model);
  std::string text = kase.model.family == model::ModelSpec::Family::mlp ? "a perceptron" : "a GPT";
  text += fmt::format(" of L = {}, width h = {}, {}", so_many(std::ssize(structure.layers), "layer"), kase.model.hidden,
                      so_many(kase.model.outputs, "output"));
  if (!kase.model.widths.empty()) text += fmt::format(", inner widths {}", fmt::join(kase.model.widths, ", "));
  if (kase.model.family == model::ModelSpec::Family::gpt) text += ", " + so_many(kase.model.heads, "head");
  if (kase.question) return text + fmt::format(", sequences of {}", so_many(kase.model.sequence, "token"));
  text += "; weights of the layers: " + weights_text(structure);
  if (puzzle.model_use == cases::ModelUse::layers) return text;
  const bool adam = kase.model.optimizer == model::ModelSpec::Optimizer::adam;
  return text + (adam ? "; Adam" : "; plain SGD");
}

/// "1 MB/s": a K are 1000 bytes, as of links everywhere.
std::string rate_text(double bytes_per_second) {
  if (bytes_per_second >= 1e9) return fmt::format("{:g} GB/s", bytes_per_second / 1e9);
  if (bytes_per_second >= 1e6) return fmt::format("{:g} MB/s", bytes_per_second / 1e6);
  return fmt::format("{:g} KB/s", bytes_per_second / 1e3);
}

/// Puzzles that are about something else have links on which bytes take no time.
constexpr double kFreeBytesPerSecond = 1e15;

bool is_free(const front::LinkSpeed& link) {
  return link.latency == Nanos(0) && link.bytes_per_second >= kFreeBytesPerSecond;
}

std::string link_text(const front::LinkSpeed& link) {
  if (is_free(link)) return "no time";
  if (link.bytes_per_second >= kFreeBytesPerSecond) return to_text(link.latency) + ", however long it is";
  return fmt::format("{} and its bytes at {}", to_text(link.latency), rate_text(link.bytes_per_second));
}

std::string links_text(const front::Cluster& cluster) {
  const auto& [inside, between] = cluster.links;
  const bool alike = inside.latency == between.latency && inside.bytes_per_second == between.bytes_per_second;
  if (alike && is_free(inside)) return "messages are free here: they take no time";
  if (alike) return "a message takes " + link_text(inside);
  return fmt::format("a message takes {} inside a node of {} ranks, {} between nodes", link_text(inside),
                     cluster.ranks_per_node, link_text(between));
}

std::string times_text(const front::Cluster& cluster) {
  std::string text = fmt::format("a layer's forward takes {}, its backward {}", to_text(cluster.table.forward),
                                 to_text(cluster.table.backward));
  if (cluster.table.backward_weights) {
    text += fmt::format(" ({} of it for the gradients of its weights)", to_text(*cluster.table.backward_weights));
  }
  return text + (cluster.table.per_sequence ? " for each sequence" : "");
}

}  // namespace

std::vector<std::string> case_facts(const cases::Case& kase, const cases::Manifest& puzzle) {
  std::vector<std::string> facts;
  if (!kase.question) facts.push_back(ranks_and_batch(kase));
  if (kase.has_model()) facts.push_back(model_text(kase, puzzle));
  if (kase.has_model() && kase.cluster.uses_table) facts.push_back(times_text(kase.cluster));
  if (kase.ranks > 1) facts.push_back(links_text(kase.cluster));
  if (!kase.numbers.empty()) {
    std::vector<std::string> numbers;
    for (const auto& [name, value] : kase.numbers) numbers.push_back(fmt::format("{} = {}", name, value));
    facts.push_back(fmt::format("{}", fmt::join(numbers, ", ")));
  }
  for (std::string& list : lists_text(kase)) facts.push_back(std::move(list));
  return facts;
}

}  // namespace shardlings::cli::learner
