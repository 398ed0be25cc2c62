#include "grading/judge/needless_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace shardlings::grading::judge {
namespace {

/// Fails if a rank has an event of that kind whose name is meant; says which rank has how many, and the line of the
/// first.
void refuse(CheckContext& check, front::EventKind kind, const std::function<bool(const std::string&)>& is_meant,
            const std::string& expected, const std::string& diagnosis) {
  for (int rank = 0; rank < check.ranks() && !check.failed(); ++rank) {
    const auto events = check.events(rank, kind);
    const auto& names = check.trace(rank).names;
    const auto first = std::find_if(events.begin(), events.end(),
                                    [&](const front::Event& event) { return is_meant(names.at(event.name)); });
    if (first == events.end()) continue;
    const std::string& name = names.at(first->name);
    const auto count = std::count_if(events.begin(), events.end(),
                                     [&](const front::Event& event) { return names.at(event.name) == name; });
    check.fail(expected,
               fmt::format("{} called {}() {}", check.name_of(rank), name,
                           count == 1 ? "once" : fmt::format("{} times", count)),
               place_of(*first));
    check.diagnose(diagnosis);
  }
}

auto is(const char* name) {
  return [name](const std::string& other) { return other == name; };
}

}  // namespace

void refuse_host_reads(CheckContext& check) {
  refuse(check, front::EventKind::operation, is("read"), "right results without read()", "host_reads");
}

void refuse_barriers(CheckContext& check) {
  refuse(check, front::EventKind::collective, is("barrier"), "no call but those of the lesson", "barrier");
}

std::optional<cases::Product> product_of(const std::string& operation) {
  for (const std::string& word : cases::kProductWords.all()) {
    if (operation.starts_with(word)) return cases::kProductWords.find(word);  // matmul_add, attention_backward, …
  }
  return std::nullopt;
}

void refuse_products(CheckContext& check, const std::vector<cases::Product>& allowed) {
  const auto is_refused = [&](const std::string& operation) {
    const auto product = product_of(operation);
    return product && std::find(allowed.begin(), allowed.end(), *product) == allowed.end();
  };
  refuse(check, front::EventKind::operation, is_refused, "right results by the calls of the lesson", "other_product");
}

}  // namespace shardlings::grading::judge
