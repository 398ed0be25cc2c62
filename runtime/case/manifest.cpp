#include "case/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/file.h"
#include "base/suggest.h"
#include "base/toml_section.h"
#include "case/deaths.h"
#include "case/names.h"

namespace shardlings::cases {
namespace {

bool is_case_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view(" .,_=-+").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

/// The value of one of the words, or an error.
template <class Enum, std::size_t N>
Enum value_of(TomlSection& section, const std::string& key, const std::string& word, const Words<Enum, N>& words) {
  const auto value = words.find(word);
  if (!value) section.fail(key, fmt::format("'{}' cannot be '{}'{}", key, word, suggestion(word, words.all())));
  return *value;
}

template <class Enum, std::size_t N>
Enum value(TomlSection& section, const std::string& key, const Words<Enum, N>& words) {
  return value_of(section, key, section.text(key), words);
}

template <class Enum, std::size_t N>
Enum value_or(TomlSection& section, const std::string& key, Enum otherwise, const Words<Enum, N>& words) {
  return value_of(section, key, section.text_or(key, words.of(otherwise)), words);
}

CheckSpec read_check(TomlSection& section, const Manifest& manifest) {
  CheckSpec check;
  section.has_only({"id", "kind", "title", "points", "after", "bonus", "asked"});
  check.id = section.text("id");
  if (!is_identifier(check.id)) section.fail("id", fmt::format("'{}' is no id: letters, digits and _ only", check.id));
  if (manifest.check(check.id)) section.fail("id", fmt::format("there are two checks '{}'", check.id));
  check.kind = value(section, "kind", kCheckKindWords);
  check.title = section.text("title");
  check.points = section.small("points", 0);
  check.after = section.texts_or_none("after");
  for (const std::string& id : check.after) {
    if (!manifest.check(id))
      section.fail("after", fmt::format("'{}' is no check that stands before '{}'", id, check.id));
  }
  check.bonus = section.flag_or("bonus", false);
  check.asked = value_or(section, "asked", Asked::run, kAskedWords);
  if (check.bonus && manifest.checks.empty()) section.fail("bonus", "the first check cannot be a bonus");
  for (const std::string& id : check.after) {
    if (!check.bonus && manifest.check(id)->bonus)
      section.fail("after", fmt::format("'{}' is a bonus, and '{}' is none: it would cost the pass", id, check.id));
  }
  return check;
}

Hint read_hint(TomlSection& section) {
  Hint hint;
  section.has_only({"level", "text"});
  hint.level = value(section, "level", kHintLevelWords);
  hint.text = section.text("text");
  return hint;
}

Diagnosis read_diagnosis(TomlSection& section) {
  section.has_only({"id", "text", "hint", "level"});
  if (!section.has("hint")) section.has_only({"id", "text", "hint"});
  Diagnosis diagnosis{section.text("id"), section.has("text") ? section.text("text") : ""};
  if (section.has("hint")) {
    diagnosis.hint = {value_or(section, "level", HintLevel::where, kHintLevelWords), section.text("hint")};
  }
  // One sentence, however the file breaks it into lines: reports break it anew.
  std::replace(diagnosis.text.begin(), diagnosis.text.end(), '\n', ' ');
  return diagnosis;
}

model::ModelSpec read_model(TomlSection& section) {
  model::ModelSpec model;
  section.has_only({"family", "layers", "hidden", "widths", "outputs", "sequence", "heads", "tied", "optimizer", "lr",
                    "eps", "clip"});
  model.family = value(section, "family", model::kFamilyWords);
  model.layers = section.small_or("layers", model.layers, 1);
  model.hidden = section.integer_or("hidden", model.hidden, 1);
  model.widths = section.integers_or_none("widths", 1);
  model.outputs = section.integer_or("outputs", model.outputs, 1);
  model.sequence = section.integer_or("sequence", model.sequence, 1);
  model.heads = section.small_or("heads", model.heads, 1);
  model.tied = section.flag_or("tied", model.tied);
  model.optimizer = value_or(section, "optimizer", model.optimizer, model::kOptimizerWords);
  model.lr = static_cast<float>(section.number_or("lr", model.lr, 0));
  model.eps = static_cast<float>(section.number_or("eps", model.eps, 0));
  model.clip = static_cast<float>(section.number_or("clip", model.clip, 0));
  if (model.family == model::ModelSpec::Family::gpt && model.hidden % model.heads != 0) {
    section.fail("heads", fmt::format("hidden = {} is not divisible by heads = {}", model.hidden, model.heads));
  }
  try {
    model::make_structure(model);
  } catch (const std::invalid_argument& error) {
    section.fail("widths", error.what());
  }
  return model;
}

Bytes mib_or(TomlSection& section, const std::string& key, Bytes otherwise) {
  constexpr double kMost = 1e9;  // in bytes, still a whole number of 64 bits
  const double mib = section.number_or(key, static_cast<double>(otherwise.value()) / (1 << 20), 0);
  if (mib > kMost) section.fail(key, fmt::format("'{}' must be a number of at most {}", key, kMost));
  return Bytes(static_cast<std::int64_t>(mib * (1 << 20)));
}

/// The clusters of a folder, each read once: most cases of a puzzle have the same one.
class Clusters {
 public:
  explicit Clusters(std::string folder) : folder_(std::move(folder)) {}
  const front::Cluster& at(const std::string& name) {
    const auto found = loaded_.find(name);
    if (found != loaded_.end()) return found->second;
    return loaded_.emplace(name, front::load_cluster(folder_, name)).first->second;
  }

 private:
  std::string folder_;
  std::map<std::string, front::Cluster> loaded_;
};

front::Cluster read_cluster(TomlSection& section, Clusters& clusters) {
  front::Cluster cluster;
  try {
    cluster = clusters.at(section.text_or("cluster", "classroom"));
  } catch (const std::runtime_error& error) {
    section.fail("cluster", error.what());
  }
  front::change_cluster(section, cluster);
  return cluster;
}

std::vector<std::string> case_keys() {
  std::vector<std::string> keys = front::cluster_keys();
  keys.insert(keys.end(), {"name", "hidden", "ranks", "batch", "micro_batches", "batches", "uneven_tokens",
                           "empty_batch", "steps", "seed", "cluster", "link", "host_link", "capacity_mib", "deaths",
                           "detection_ms", "model", "numbers", "lists"});
  return keys;
}

Case read_case(TomlSection& section, const Manifest& manifest, Clusters& clusters) {
  Case kase;
  section.has_only(case_keys());
  kase.puzzle = manifest.id;
  kase.name = section.text("name");
  if (!is_case_name(kase.name))
    section.fail("name", fmt::format("'{}': letters, digits, spaces and .,_=-+ only", kase.name));
  if (manifest.find_case(kase.name)) section.fail("name", fmt::format("there are two cases '{}'", kase.name));
  kase.hidden = section.flag_or("hidden", false);
  kase.question = manifest.question;
  kase.ranks = section.small_or("ranks", 1, 1);
  if (kase.question && kase.ranks > 1) section.fail("ranks", "a question is asked on one rank");
  kase.batch = section.integer_or("batch", 2, 1);
  kase.micro_batches = section.small_or("micro_batches", 1, 1);
  kase.batches = section.small_or("batches", 0, 1);
  if (kase.ranks % kase.num_batches() != 0)
    section.fail("batches", fmt::format("{} ranks cannot share {} batches evenly", kase.ranks, kase.batches));
  kase.uneven_tokens = section.flag_or("uneven_tokens", false);
  kase.empty_batch = section.flag_or("empty_batch", false);
  if (kase.empty_batch && kase.num_batches() == 1) section.fail("empty_batch", "there must be another batch");
  kase.steps = section.small_or("steps", 1, 1);
  kase.seed = static_cast<std::uint64_t>(section.integer_or("seed", 1, 0));
  kase.cluster = read_cluster(section, clusters);
  kase.capacity = mib_or(section, "capacity_mib", kase.cluster.device_memory);
  read_deaths(section, kase);
  kase.model.layers = 0;
  if (auto model = section.section("model")) kase.model = read_model(*model);
  if (auto numbers = section.section("numbers")) {
    for (const auto& [key, value] : numbers->all_numbers()) kase.numbers[key] = value;
  }
  if (auto lists = section.section("lists")) kase.lists = lists->all_lists();
  return kase;
}

/// What says something about programs of ranks, and nothing about a question.
void refuse_what_ranks_have(const TomlSection& root) {
  for (const char* key : {"host_reads", "barriers", "store", "survivors", "products", "axes", "interleaved"}) {
    if (root.has(key)) root.fail(key, fmt::format("'{}' is about ranks, and a question has none", key));
  }
}

std::vector<Axis> read_axes(TomlSection& section) {
  section.has_only({"tp", "pp", "dp", "v"});
  std::vector<Axis> axes;
  for (const char* name : {"tp", "pp", "dp", "v"}) {
    if (!section.has(name)) continue;
    const std::string number = section.text(name);
    axes.push_back({name, number == "ranks" ? "" : number});
  }
  return axes;
}

TrainForm read_train(TomlSection& section) {
  section.has_only({"step", "divided", "micro_batches"});
  TrainForm form{value(section, "step", kTrainStepWords), false, false, false, false};
  for (const std::string& part : section.texts_or_none("divided")) {
    if (part == "weights") {
      form.weights = true;
    } else if (part == "grads") {
      form.grads = true;
    } else if (part == "optimizer") {
      form.optimizer = true;
    } else {
      section.fail("divided", fmt::format("'{}' cannot be divided: weights, grads and optimizer can", part));
    }
  }
  form.micro_batches = section.flag_or("micro_batches", false);
  return form;
}

/// Which checks of the puzzle ask for less in an early milestone, or for nothing.
void read_checks_of_milestone(TomlSection& section, const Manifest& manifest, Milestone& milestone) {
  std::vector<std::string> ids;
  for (const CheckSpec& check : manifest.checks) ids.push_back(check.id);
  if (auto titles = section.section("titles")) {
    titles->has_only(ids);
    for (const std::string& id : ids) {
      if (titles->has(id)) milestone.titles[id] = titles->text(id);
    }
  }
  milestone.unasked = section.texts_or_none("unasked");
  for (const std::string& id : milestone.unasked) {
    if (!manifest.check(id)) section.fail("unasked", fmt::format("there is no check '{}'", id));
  }
}

Milestone read_milestone(TomlSection& section, const Manifest& manifest) {
  section.has_only({"letter", "title", "cases", "titles", "unasked"});
  Milestone milestone{section.text("letter"), section.text("title"), section.texts_or_none("cases")};
  const std::string next(1, static_cast<char>('a' + manifest.milestones.size()));
  if (milestone.letter != next)
    section.fail("letter", fmt::format("this milestone is '{}', not '{}'", next, milestone.letter));
  for (const std::string& name : milestone.cases) {
    if (!manifest.find_case(name)) section.fail("cases", fmt::format("there is no case '{}'", name));
  }
  read_checks_of_milestone(section, manifest, milestone);
  if (!manifest.milestones.empty() && manifest.milestones.back().cases.empty())
    section.fail("letter", fmt::format("the milestone before '{}' names no cases: it would be the whole puzzle", next));
  return milestone;
}

void read_lists(TomlSection& root, Clusters clusters, Manifest& manifest) {
  for (TomlSection& section : root.sections("checks")) manifest.checks.push_back(read_check(section, manifest));
  for (TomlSection& section : root.sections("hints")) manifest.hints.push_back(read_hint(section));
  for (TomlSection& section : root.sections("diagnoses")) {
    const Diagnosis diagnosis = read_diagnosis(section);
    if (manifest.diagnosis(diagnosis.id)) section.fail("id", fmt::format("there are two diagnoses '{}'", diagnosis.id));
    manifest.diagnoses.push_back(diagnosis);
  }
  for (TomlSection& section : root.sections("cases")) {
    manifest.cases.push_back(read_case(section, manifest, clusters));
  }
  for (TomlSection& section : root.sections("milestones"))
    manifest.milestones.push_back(read_milestone(section, manifest));
  if (!manifest.milestones.empty() && !manifest.milestones.back().cases.empty())
    root.fail("milestones", "the last one is the whole puzzle, and so names no cases");
  if (manifest.checks.empty())
    root.fail("checks", "there are no [[checks]]: a puzzle that nothing checks cannot be passed");
  if (manifest.cases.empty()) root.fail("cases", "there are no [[cases]]: nothing could be run");
}

}  // namespace

int Manifest::max_points() const {
  int points = 0;
  for (const CheckSpec& spec : checks) points += spec.bonus ? 0 : spec.points;
  return points;
}

const CheckSpec* Manifest::check(const std::string& wanted) const {
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const CheckSpec& c) { return c.id == wanted; });
  return found == checks.end() ? nullptr : &*found;
}

const Milestone* Manifest::milestone(const std::string& letter) const {
  const auto found = std::find_if(milestones.begin(), milestones.end(),
                                  [&](const Milestone& milestone) { return milestone.letter == letter; });
  return found == milestones.end() ? nullptr : &*found;
}

const Diagnosis* Manifest::diagnosis(const std::string& wanted) const {
  const auto found =
      std::find_if(diagnoses.begin(), diagnoses.end(), [&](const Diagnosis& d) { return d.id == wanted; });
  return found == diagnoses.end() ? nullptr : &*found;
}

const Case* Manifest::find_case(const std::string& wanted) const {
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == wanted; });
  return found == cases.end() ? nullptr : &*found;
}

Manifest parse_manifest(const std::string& text, const std::string& folder, const std::string& clusters_folder) {
  toml::table table;
  try {
    table = toml::parse(text, std::string(kManifestFile));
  } catch (const toml::parse_error& error) {
    throw std::runtime_error(fmt::format("{}:{}: {}", kManifestFile, error.source().begin.line, error.description()));
  }
  Manifest manifest;
  manifest.folder = folder;
  manifest.id = std::filesystem::path(folder).filename().string();
  manifest.number = leading_number(manifest.id);
  TomlSection root(table, kManifestFile, "");
  root.has_only({"title", "chapter", "summary", "answer_lines", "question", "host_reads", "barriers", "store",
                 "survivors", "products", "axes", "interleaved", "model_use", "train", "checks", "hints", "diagnoses",
                 "cases", "milestones"});
  manifest.title = root.text("title");
  manifest.chapter = root.text("chapter");
  manifest.summary = root.text("summary");
  manifest.answer_lines = root.small("answer_lines", 1);
  manifest.model_use = value_or(root, "model_use", ModelUse::all, kModelUseWords);
  manifest.question = root.flag_or("question", false);
  if (manifest.question) refuse_what_ranks_have(root);
  manifest.host_reads = root.flag_or("host_reads", false);
  manifest.barriers = root.flag_or("barriers", false);
  manifest.store = root.flag_or("store", false);
  manifest.survivors = root.flag_or("survivors", false);
  for (const std::string& word : root.texts_or_none("products")) {
    manifest.products.push_back(value_of(root, "products", word, kProductWords));
  }
  if (auto axes = root.section("axes")) manifest.axes = read_axes(*axes);
  manifest.interleaved = root.flag_or("interleaved", false);
  if (auto train = root.section("train")) manifest.train = read_train(*train);
  read_lists(root, Clusters(clusters_folder), manifest);
  return manifest;
}

Manifest load_manifest(const std::string& puzzle_folder, const std::string& clusters_folder) {
  const auto folder = std::filesystem::absolute(puzzle_folder).lexically_normal();
  const auto plain = folder.has_filename() ? folder : folder.parent_path();  // without a slash at the end
  return parse_manifest(read_whole_file((plain / kManifestFile).string()), plain.string(), clusters_folder);
}

}  // namespace shardlings::cases
