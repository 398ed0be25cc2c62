// Who may include whom. The longest path that fits a file gives its rule.
#include <algorithm>
#include <iterator>
#include <regex>

#include "architecture/rules.h"

namespace shardlings::architecture {
namespace {

using Names = std::vector<std::string>;

struct Rule {
  std::string folder;  ///< beginning of the file's path
  Names allowed;       ///< beginnings of what it may include with quotes
  std::string why;
};

const Names kBackSeams = {"back/engine/engine.h", "back/fabric/fabric.h", "back/kernels/kernels.h",
                          "back/kernels/kernel_ids.h", "back/store/store.h"};
/// How the processes of a run reach one another.
const Names kTransport = {"back/transport/transport.h", "back/transport/progress.h"};

/// What a run leaves behind, and what it writes before it may crash.
const Names kReport = {"front/trace/", "front/misuse/black_box.h"};

/// What a case is made of.
const Names kCaseData = {"front/clock/cluster.h", "front/clock/cluster_fields.h", "front/clock/death.h",
                         "model/execution.h",     "model/software_stack.h",       "model/structure.h"};

/// What a simulated run was of, beside its case, and what it leaves behind.
const Names kSimulated = {"front/clock/cluster.h", "front/group/fold.h", "front/trace/"};

/// What a jail leaves behind, and what stood around it.
const Names kBoundaryData = {"boundary/crash_note.h", "boundary/walls.h"};

/// What is below those who start something beside a rank's program.
const Names kLanesOfRank = {"front/clock/", "front/memory/", "front/pending/", "front/host/"};

template <class T>
std::vector<T> operator+(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Names kBottom = {"base/", "shardlings/"};

/// Inside the front.
std::vector<Rule> rules_of_front() {
  const Names of_rank =
      kBottom +
      Names{"back/fabric/fabric.h", "back/kernels/kernels.h", "back/kernels/kernel_ids.h", "api/", "front/rank/",
            "front/trace/"};
  return {
      {"runtime/front/", kBottom + kBackSeams + kTransport + Names{"api/", "front/", "model/"},
       "front uses the back through its interfaces"},
      // The folders of front, from below: each may include those that it names, and itself.
      {"runtime/front/trace/", kBottom + Names{"back/fabric/fabric.h", "front/trace/"},
       "what a run leaves is plain data"},
      {"runtime/front/clock/", kBottom + Names{"back/fabric/fabric.h", "front/clock/", "front/trace/"},
       "the clock knows no tensor and no group"},
      {"runtime/front/misuse/", kBottom + Names{"back/fabric/fabric.h", "front/misuse/", "front/trace/"},
       "the misuse detector sees records of calls, nothing that is alive"},
      {"runtime/front/rank/", of_rank + Names{"front/clock/", "front/misuse/black_box.h", "model/execution.h"},
       "what all parts of a rank share knows none of them"},
      {"runtime/front/memory/", of_rank + Names{"front/memory/"}, "memory is below groups, models and operations"},
      {"runtime/front/pending/", of_rank + Names{"front/memory/", "front/pending/"},
       "an operation under way is one of groups or of the host, and the table of them knows neither"},
      {"runtime/front/host/", of_rank + kLanesOfRank, "what the host does needs no other rank"},
      {"runtime/front/store/", of_rank + kLanesOfRank + Names{"back/store/store.h", "front/store/"},
       "the store is shared, and knows neither groups nor who they are"},
      {"runtime/front/group/",
       of_rank + Names{"back/engine/engine.h", "front/clock/", "front/memory/", "front/misuse/", "front/pending/",
                       "front/group/"},
       "groups know no operation and no model"},
      {"runtime/front/remote/",
       of_rank + kTransport +
           Names{"back/engine/engine.h", "front/clock/", "front/group/", "front/misuse/", "front/remote/",
                 "front/store/"},
       "the control plane between processes is that of groups, by messages"},
      {"runtime/front/ops/", of_rank + kLanesOfRank + Names{"front/ops/", "model/"}, "operations are one rank's own"},
      {"runtime/front/model/", of_rank + Names{"front/clock/cost.h", "front/memory/", "front/model/", "model/"},
       "the layers' mathematics are composed of public operations"},
  };
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules =
      rules_of_front() +
      std::vector<Rule>{
          {"runtime/include/",
           {"shardlings/"},
           "the public headers include themselves and light standard headers only"},
          {"runtime/base/", kBottom, "base knows nothing of the rest"},
          {"runtime/model/", kBottom + Names{"model/"}, "the model's formulas are pure: no calls, no ranks"},
          {"runtime/api/", kBottom + Names{"api/", "model/"}, "api turns public calls into entries of the table"},
          {"runtime/boundary/", kBottom + Names{"api/", "boundary/", "model/"},
           "the boundary carries calls; what they mean is behind the port"},
          {"runtime/boundary/jail/", kBottom + Names{"api/port.h", "boundary/"},
           "beside the learner's code there is nothing but the port's near side"},
          {"runtime/back/engine/", kBottom + Names{"back/engine/"},
           "an engine runs ranks and knows nothing of what they do"},
          {"runtime/back/kernels/", kBottom + Names{"back/kernels/"},
           "kernels compute; they count nothing and know no rank"},
          {"runtime/back/transport/", kBottom + Names{"back/transport/"},
           "a transport carries bytes and knows nothing of what they mean"},
          {"runtime/back/store/", kBottom + Names{"back/store/"}, "what is kept of a store is names and bytes"},
          {"runtime/back/fabric/",
           kBottom + kTransport +
               Names{"back/fabric/", "back/kernels/kernels.h", "back/kernels/kernel_ids.h", "back/kernels/gpus.h"},
           "a fabric moves bytes; devices it sees through their interface"},
          {"runtime/world/", kBottom + Names{"api/access.h", "back/", "front/", "world/"},
           "a world is made of a front and of the back's parts"},
          {"runtime/case/", kBottom + kCaseData + Names{"case/"}, "a case is data that both sides of a run read"},
          {"runtime/submission/",
           kBottom + Names{"submission/", "boundary/", "case/", "world/", "front/", "model/", "api/access.h",
                           "api/rank_model.h", "api/harness_calls.h", "back/transport/progress.h"},
           "what serves a learner's function knows nothing of the judge"},
          {"runtime/submission/wire/", kBottom + kReport + kBoundaryData + Names{"submission/wire/"},
           "what a submission leaves behind is data"},
          {"runtime/grading/",
           kBottom + kReport + kBoundaryData + Names{"grading/", "case/", "submission/wire/", "world/", "model/"},
           "the judge reads what a submission left behind, and runs none of its code"},
          {"runtime/memory_map/", kBottom + Names{"memory_map/", "model/"}, "a map of memory is a formula"},
          {"runtime/simulation/", kBottom + kSimulated + Names{"simulation/", "memory_map/", "model/", "case/"},
           "a simulation is a case and what came of it; others run it"},
          {"runtime/train/",
           kBottom + Names{"train/", "case/", "submission/", "world/", "front/", "model/", "api/access.h",
                           "api/rank_model.h", "api/harness_calls.h"},
           "training is a run of its own, set up as a harness does"},
          {"runtime/report/",
           kBottom + Names{"report/", "grading/verdict/verdict.h", "simulation/kinds.h", "simulation/sweep.h", "case/",
                           "submission/wire/result.h", "front/trace/"},
           "a report shows a verdict; it runs and judges nothing"},
          {"runtime/cli/",
           kBottom + Names{"cli/", "report/", "grading/", "memory_map/", "simulation/", "case/", "train/"},
           "the command uses grading and reports"},
          {"docs/site/", kBottom + Names{"site/", "case/", "cli/quiz/post.h", "report/harmless.h"},
           "the site shows texts and data; it runs and judges nothing"},
          {"puzzles/", {"shardlings/"}, "a puzzle sees the public headers alone"},
          {"solutions/", {"shardlings/"}, "a solution sees the public headers alone"},
      };
  return kRules;
}

// Files of a puzzle that are not the learner's.
bool allowed_beside_puzzle(const std::string& path, const std::string& name) {
  const bool own_header = name.find('/') == std::string::npos;
  if (ends_with(path, "/harness.cpp")) {
    return own_header || name == "submission/harness.h" || name == "model/operation_flops.h" ||
           name == "case/given_seed.h";
  }
  if (ends_with(path, ".h")) {
    return own_header || starts_with(name, "base/") || starts_with(name, "grading/formulas/");
  }
  if (!ends_with(path, "/grader.cpp") && !ends_with(path, "/questions.cpp")) return false;
  if (own_header) return true;
  return starts_with(name, "grading/") || starts_with(name, "case/") || starts_with(name, "base/") ||
         starts_with(name, "model/");
}

// "runtime/back/kernels/cpu/blas.h" -> "back/kernels/cpu/"; empty for a file that is in no implementation's folder.
std::string implementation_of(const std::string& path) {
  static const std::regex kImplementation(R"(^(?:runtime/|tests/)?(back/[a-z_]+/[a-z_]+/))");
  std::smatch match;
  return std::regex_search(path, match, kImplementation) ? match[1].str() : "";
}

const Rule* rule_for(const std::string& path) {
  const Rule* best = nullptr;
  for (const Rule& rule : rules()) {
    if (starts_with(path, rule.folder) && (best == nullptr || rule.folder.size() > best->folder.size())) best = &rule;
  }
  return best;
}

bool is_light(const std::string& name) {
  static const Names kLight = {"compare", "cstddef", "cstdint", "exception", "initializer_list", "span", "vector"};
  return std::find(kLight.begin(), kLight.end(), name) != kLight.end();
}

bool allowed(const Rule& rule, const std::string& path, const std::string& name) {
  const std::string implementation = implementation_of(name);
  if (!implementation.empty() && implementation != implementation_of(path)) return false;
  if (allowed_beside_puzzle(path, name)) return true;
  return std::any_of(rule.allowed.begin(), rule.allowed.end(),
                     [&](const auto& part) { return starts_with(name, part); });
}

}  // namespace

std::vector<Violation> check_layers(const Source& source) {
  std::vector<Violation> violations;
  const Rule* rule = rule_for(source.path);
  if (rule == nullptr) {
    if (starts_with(source.path, "runtime/")) violations.push_back({source.path, 1, "layers.cpp has no rule for it"});
    return violations;
  }
  for (const Include& include : includes_of(source.text)) {
    const bool is_ours = include.quoted || starts_with(include.name, "shardlings/");
    const bool holds = is_ours ? allowed(*rule, source.path, include.name)
                               : !starts_with(source.path, "runtime/include/") || is_light(include.name);
    if (!holds) violations.push_back({source.path, include.line, "includes " + include.name + ", but " + rule->why});
  }
  return violations;
}

std::vector<std::string> allowed_below(const std::string& folder) {
  Names names;
  for (const Rule& rule : rules()) {
    if (!starts_with(rule.folder, folder)) continue;
    std::copy_if(rule.allowed.begin(), rule.allowed.end(), std::back_inserter(names), [&](const std::string& name) {
      return !starts_with("runtime/" + name, folder) && name != "shardlings/";
    });
  }
  return names;
}

std::vector<Violation> check_backends(const Source& source) {
  static const std::regex kVendor(R"(^(cuda|cublas|nccl|mpi\.h|cblas|openblas|hip/|hip_|omp\.h))");
  static const std::regex kCondition(R"(^\s*#\s*(if|ifdef|ifndef|elif)\b.*(CUDA|NVCC|MPI|NCCL|HIP|BLAS))");
  std::vector<Violation> violations;
  // What a vendor's library does at best can only be measured by calling it.
  const bool measures = starts_with(source.path, "tests/bench/gpu/") || starts_with(source.path, "tests/bench/mpi/");
  if (!implementation_of(source.path).empty() || measures) return violations;
  for (const Include& include : includes_of(source.text)) {
    if (std::regex_search(include.name, kVendor)) {
      violations.push_back({source.path, include.line, include.name + " belongs below back/<part>/<implementation>/"});
    }
  }
  int number = 0;
  for (const std::string& line : lines_of(source.text)) {
    ++number;
    if (!std::regex_search(line, kCondition)) continue;
    violations.push_back({source.path, number, "a condition on a backend belongs below back/<part>/<implementation>/"});
  }
  return violations;
}

}  // namespace shardlings::architecture
