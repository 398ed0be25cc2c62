#include "grading/judge/needless_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "grading/judge/least_of_products.h"
#include "grading/judge/most_of_products.h"
#include "model/operation_flops.h"
#include "model/structure.h"

namespace shardlings::grading::judge {
namespace {

/// Of this grader.
MostOfProducts& registered_most() {
  static MostOfProducts most = nullptr;
  return most;
}

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

std::string text_of(Flops flops) {
  return verdict::amount_text(flops.value(), verdict::Unit::flops, "");
}

auto is(const char* name) {
  return [name](const std::string& other) { return other == name; };
}

}  // namespace

void refuse_host_reads(CheckContext& check) {
  refuse(check, front::EventKind::operation, is("read"), "right results without read()", "host_reads");
}

// Writing, reading and publishing take the store's lane; a look at what is there is traced as the wait that it costs.
void refuse_store(CheckContext& check) {
  const auto is_of_store = [](const std::string& name) { return name.starts_with("store."); };
  for (const front::EventKind kind : {front::EventKind::copy, front::EventKind::wait}) {
    refuse(check, kind, is_of_store, "right results without the store", "needless_store");
  }
}

void refuse_survivors(CheckContext& check) {
  refuse(check, front::EventKind::collective, is("survivors"), "right results without survivors()",
         "needless_survivors");
}

void refuse_barriers(CheckContext& check) {
  refuse(check, front::EventKind::collective, is("barrier"), "no call but those of the lesson", "barrier");
}

std::optional<cases::Product> product_of(const std::string& operation) {
  for (const std::string& word : cases::kProductWords.all()) {
    if (operation.starts_with(word)) return cases::kProductWords.find(word);  // matmul_add, gelu_backward, …
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

namespace {

/// Fails at the event of that kind with which the rank goes beyond `most`, among those that are meant.
void bound_flops(CheckContext& check, int rank, front::EventKind kind,
                 const std::function<bool(const std::string&)>& is_meant, Flops most) {
  Flops sum;
  const auto& names = check.trace(rank).names;
  for (const front::Event& event : check.events(rank, kind)) {
    const std::string& name = names.at(event.name);
    if (!is_meant(name)) continue;
    sum += event.flops;
    if (sum <= most) continue;
    check.fail(fmt::format("{} at most by {}()", text_of(most), name),
               fmt::format("{} makes {} and more", check.name_of(rank), text_of(sum)), place_of(event));
    return check.diagnose("other_product");
  }
}

/// One update of every weight, by the case's optimizer; none without a model.
Flops flops_of_update(const cases::Case& kase) {
  if (!kase.has_model()) return Flops(0);
  const bool adam = kase.model.optimizer == model::ModelSpec::Optimizer::adam;
  return Flops((adam ? model::kAdamFlops : model::kSgdFlops) * model::make_structure(kase.model).total);
}

}  // namespace

bool register_most_of_products(MostOfProducts most) {
  registered_most() = most;
  return true;
}

MostOfProducts most_of_products() {
  return registered_most();
}

void bound_products(CheckContext& check, const std::vector<cases::Product>& allowed) {
  const MostOfProducts granted = most_of_products();
  for (int rank = 0; rank < check.ranks() && !check.failed(); ++rank) {
    const std::vector<ProductFlops> bounds = granted ? granted(check, rank) : std::vector<ProductFlops>();
    for (const cases::Product product : allowed) {
      if (cases::is_of_matrices(product) || check.failed()) continue;
      const auto bound =
          std::find_if(bounds.begin(), bounds.end(), [&](const ProductFlops& each) { return each.product == product; });
      const auto is_it = [&](const std::string& operation) { return product_of(operation) == product; };
      bound_flops(check, rank, front::EventKind::operation, is_it, bound == bounds.end() ? Flops(0) : bound->most);
    }
  }
}

namespace {

// Right programs that put a sum together in a way of their own add somewhat more than layers and products multiply; who
// makes products of sums adds some hundred times as much.
constexpr Count kSumsForAProduct = 4;

/// What the operations of one rank take: layers, products of matrices, and what is linear.
struct Computed {
  Flops layers, products, added;
  std::optional<front::Event> most_added;  ///< the call that adds most
};

Computed computed_by(const CheckContext& check, int rank) {
  using Kind = front::EventKind;
  Computed sum;
  const auto& trace = check.trace(rank);
  for (const front::Event& event : trace.events) {
    if (event.depth != 0) continue;
    const bool of_layers = event.kind == Kind::forward || event.kind == Kind::backward || event.kind == Kind::loss ||
                           event.kind == Kind::backward_input || event.kind == Kind::backward_weights;
    const auto product = event.kind == Kind::operation ? product_of(trace.names.at(event.name)) : std::nullopt;
    if (of_layers) sum.layers += event.flops;
    if (product && cases::is_of_matrices(*product)) sum.products += event.flops;
    if (event.kind != Kind::operation || product) continue;
    sum.added += event.flops;
    if (!sum.most_added || event.flops > sum.most_added->flops) sum.most_added = event;
  }
  return sum;
}

}  // namespace

void bound_sums(CheckContext& check, const std::vector<cases::Product>& allowed) {
  if (check.failed()) return;
  Flops multiplied, added;
  int most = 0;
  std::vector<Computed> ranks;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    ranks.push_back(computed_by(check, rank));
    multiplied += ranks.back().layers + ranks.back().products;
    added += ranks.back().added;
    if (ranks.back().added > ranks[static_cast<std::size_t>(most)].added) most = rank;
  }
  // A puzzle of sums alone has nothing to compare them with.
  const bool lists_products = std::any_of(allowed.begin(), allowed.end(), cases::is_of_matrices);
  const Flops most_added = kSumsForAProduct * multiplied;
  if (added <= most_added || (multiplied == Flops(0) && !lists_products)) return;
  const front::Event& where = *ranks[static_cast<std::size_t>(most)].most_added;
  check.fail(fmt::format("{} at most in sums: {} times what the products take", text_of(most_added), kSumsForAProduct),
             fmt::format("{}; {} has most of them", text_of(added), check.name_of(most)), place_of(where));
  check.diagnose("products_of_sums");
}

void require_products(CheckContext& check) {
  const LeastOfProducts registered = least_of_products();
  if (check.failed() || registered == nullptr) return;
  const Formula<Flops> least = registered(check);
  Flops found;
  for (int rank = 0; rank < check.ranks(); ++rank) found += computed_by(check, rank).products;
  if (found >= least.value()) return;
  check.fail(fmt::format("{} at least in products of matrices: {}", text_of(least.value()), least.text()),
             text_of(found));
  check.diagnose("products_missing");
}

void bound_updates(CheckContext& check) {
  const Flops most = check.kase().steps * flops_of_update(check.kase());
  for (int rank = 0; rank < check.ranks() && !check.failed(); ++rank) {
    bound_flops(
        check, rank, front::EventKind::update, [](const std::string&) { return true; }, most);
  }
}

}  // namespace shardlings::grading::judge
