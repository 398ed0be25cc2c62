// Judges attention over pieces of a sequence: numbers of one device with documents, what each position has to predict,
// how even the ranks' work is, and the time of the ring.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "grading/formulas/ring_attention.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/standstill.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/least_of_products.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "grading/reference/grouped_attention.h"
#include "model/attention_pairs.h"
#include "model/operation_flops.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

using Numbers = std::vector<double>;
/// By rank: the numbers of its two pieces, the smaller one first.
using Pieces = std::vector<std::pair<int, int>>;

struct Plan {
  explicit Plan(const Case& of)
      : kase(of), cost(of), c(of.ranks), sequence(of.model.sequence), length(sequence / (2 * c)) {
    documents.push_back(0);
    for (Count i = 1; i < of.integer("documents"); ++i) documents.push_back(of.integer(fmt::format("document_{}", i)));
  }

  bool has_one_document() const { return documents.size() == 1; }
  Count document_of(Count position) const {
    return *(std::upper_bound(documents.begin(), documents.end(), position) - 1);
  }
  Count piece_of(Count position) const { return position / length; }
  bool sees(Count query, Count key) const { return causal(query, key) && key >= document_of(query); }

  /// Pairs of a query and a key that it sees, for two pieces.
  Count pairs(int queries, int keys) const {
    const Range of_keys{keys * length, (keys + 1) * length};
    Count sum = 0;
    for (Count query = queries * length; query < (queries + 1) * length; ++query) {
      sum += model::seen_pairs({query, query + 1}, of_keys, document_of(query));
    }
    return sum;
  }
  /// A rank's pairs with the keys of another one.
  Count pairs(const std::pair<int, int>& mine, const std::pair<int, int>& theirs) const {
    return pairs(mine.first, theirs.first) + pairs(mine.first, theirs.second) + pairs(mine.second, theirs.first) +
           pairs(mine.second, theirs.second);
  }
  Count all_pairs() const {
    Count sum = 0;
    for (int i = 0; i < 2 * c; ++i) {
      for (int j = 0; j <= i; ++j) sum += pairs(i, j);
    }
    return sum;
  }
  Count most_pairs(const Pieces& of) const {
    Count most = 0;
    for (const auto& mine : of) {
      Count sum = 0;
      for (const auto& theirs : of) sum += pairs(mine, theirs);
      most = std::max(most, sum);
    }
    return most;
  }
  /// Queries that see a key of the other piece, with others of their document.
  Count merged(int queries, int keys) const {
    const Range rows{queries * length, (queries + 1) * length}, of_keys{keys * length, (keys + 1) * length};
    Count sum = 0;
    for (std::size_t d = 0; d < documents.size(); ++d) {
      const Count end = d + 1 < documents.size() ? documents[d + 1] : sequence;
      const Range some = intersect(rows, {documents[d], end});
      if (some.size() > 0 && of_keys.end > documents[d] && some.end > of_keys.begin) sum += some.size();
    }
    return sum;
  }
  /// The same for all pieces of two ranks.
  Count merged(const std::pair<int, int>& mine, const std::pair<int, int>& theirs) const {
    return merged(mine.first, theirs.first) + merged(mine.first, theirs.second) + merged(mine.second, theirs.first) +
           merged(mine.second, theirs.second);
  }
  /// What a rank computes in a step in which `rows` of its queries have something to merge.
  Nanos computing(const std::pair<int, int>& mine, const std::pair<int, int>& theirs, Count rows) const {
    return cost.forward(pairs(mine, theirs)) + cost.merging(rows);
  }
  Nanos hop() const { return cost.hop(cost.keys(2 * length)); }
  /// Steps of a ring, each as long as the rank that has most to do in it, and no shorter than a hop. With `every` also
  /// what sees nothing is merged, as it may be.
  Nanos ring(const Pieces& of, bool every) const {
    Nanos sum{};
    for (int step = 0; step < c; ++step) {
      Nanos longest{};
      for (int rank = 0; rank < c; ++rank) {
        const auto& mine = of[static_cast<std::size_t>(rank)];
        const auto& theirs = of[static_cast<std::size_t>((rank - step + c) % c)];
        longest = std::max(longest, computing(mine, theirs, every ? 4 * length : merged(mine, theirs)));
      }
      sum += step + 1 < c ? std::max(longest, hop()) : longest;
    }
    return sum;
  }

  const Case& kase;
  AttentionCost cost;
  int c;
  Count sequence, length;
  std::vector<Count> documents;
};

/// Each rank has one piece from the beginning and one from the end, as far from it.
Pieces mirrored(int ranks) {
  Pieces pieces;
  for (int rank = 0; rank < ranks; ++rank) pieces.emplace_back(rank, 2 * ranks - 1 - rank);
  return pieces;
}

Pieces neighbours(int ranks) {
  Pieces pieces;
  for (int rank = 0; rank < ranks; ++rank) pieces.emplace_back(2 * rank, 2 * rank + 1);
  return pieces;
}

/// What the learner has dealt.
Pieces pieces_found(const CheckContext& check) {
  Pieces pieces;
  const Output* output = check.output("pieces");
  if (output == nullptr) return pieces;
  for (std::size_t i = 0; i + 1 < output->values.size(); i += 2) {
    pieces.emplace_back(static_cast<int>(output->values[i]), static_cast<int>(output->values[i + 1]));
  }
  return pieces;
}

// ---- What known mistakes would have computed ----

void diagnose_y(CheckContext& check, const Plan& plan, const Numbers& found) {
  const GroupedInputs in = grouped_inputs(plan.kase, false);
  const Pieces pieces = pieces_found(check);
  if (pieces.size() != static_cast<std::size_t>(plan.c)) return;
  const auto y_of = [&](const Sees& sees) { return grouped_attention(in, sees).y; };
  const auto rank_of = [&](Count position) {
    const auto piece = static_cast<int>(plan.piece_of(position));
    const auto has = [&](const auto& two) { return two.first == piece || two.second == piece; };
    return static_cast<int>(std::find_if(pieces.begin(), pieces.end(), has) - pieces.begin());
  };
  const auto first_of = [&](Count position) { return pieces[static_cast<std::size_t>(rank_of(position))].first; };
  // As if a rank's second piece stood right behind its first one.
  const auto joined = [&](Count position) {
    const Count first = first_of(position), piece = plan.piece_of(position);
    return piece == first ? position : (first + 1) * plan.length + position % plan.length;
  };
  const auto begin_of_piece = [&](Count position) { return plan.piece_of(position) * plan.length; };
  // Keys of pieces that end before the document begins may have been skipped.
  const auto reaches = [&](Count query, Count key) {
    return causal(query, key) && begin_of_piece(key) + plan.length > plan.document_of(query);
  };
  const auto parts_added = [&] {
    Numbers sum;
    for (int piece = 0; piece < 2 * plan.c; ++piece) {
      const Numbers part =
          y_of([&](Count query, Count key) { return plan.sees(query, key) && plan.piece_of(key) == piece; });
      if (sum.empty()) sum.resize(part.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    }
    return sum;
  };
  diagnose_as(
      check, found,
      {{"documents_ignored", y_of(causal)},
       {"documents_ignored", y_of(reaches)},
       {"parts_added_up", parts_added()},
       {"document_of_first_query", y_of([&](Count query, Count key) {
          return causal(query, key) && key >= plan.document_of(begin_of_piece(query));
        })},
       {"pieces_joined", y_of([&](Count query, Count key) {
          return causal(joined(query), joined(key)) && joined(key) >= plan.document_of(joined(query));
        })},
       {"later_ranks_skipped",
        y_of([&](Count query, Count key) { return plan.sees(query, key) && rank_of(key) <= rank_of(query); })},
       {"one_piece_of_keys",
        y_of([&](Count query, Count key) { return plan.sees(query, key) && plan.piece_of(key) == first_of(key); })},
       {"own_keys_only",
        y_of([&](Count query, Count key) { return plan.sees(query, key) && rank_of(key) == rank_of(query); })}});
}

std::vector<float> targets_right(const Plan& plan) {
  std::vector<float> targets;
  for (Count position = 0; position < plan.sequence; ++position) {
    const Count next = position + 1;
    const bool ends = next == plan.sequence || plan.document_of(next) == next;
    targets.push_back(ends ? -1.0F : static_cast<float>(next));
  }
  return targets;
}

void diagnose_targets(CheckContext& check, const Plan& plan) {
  const Output* output = check.output("targets");
  if (output == nullptr) return;
  const std::vector<float> right = targets_right(plan);
  const auto is = [&](auto target) {
    for (Count i = 0; i < plan.sequence; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (output->values[at] != target(i, right[at])) return false;
    }
    return true;
  };
  const Count last = plan.sequence - 1;
  const auto next = [&](Count i) { return i == last ? -1.0F : static_cast<float>(i + 1); };
  if (is([&](Count i, float) { return next(i); })) return check.diagnose("targets_across_documents");
  if (is([](Count i, float) { return static_cast<float>(i); })) return check.diagnose("own_token");
  if (is([&](Count i, float of) { return (i + 1) % plan.length == 0 ? -1.0F : of; })) {
    return check.diagnose("ends_of_pieces_dropped");
  }
  if (is([&](Count i, float of) { return of < 0 ? of : static_cast<float>(i % plan.length + 1); })) {
    return check.diagnose("counted_in_the_piece");
  }
  if (is([&](Count i, float of) { return i == last ? static_cast<float>(plan.sequence) : of; })) {
    check.diagnose("beyond_the_end");
  }
}

void diagnose_deal(CheckContext& check, const Plan& plan) {
  const Pieces pieces = pieces_found(check);
  if (pieces == neighbours(plan.c)) return check.diagnose("consecutive_pieces");
  const auto second = [&](int rank) { return pieces[static_cast<std::size_t>(rank)].second; };
  bool in_turn = pieces.size() == static_cast<std::size_t>(plan.c);
  for (int rank = 0; in_turn && rank < plan.c; ++rank) {
    in_turn = pieces[static_cast<std::size_t>(rank)].first == rank && second(rank) == plan.c + rank;
  }
  if (in_turn) check.diagnose("dealt_in_turn");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Plan plan(check.kase());
  const GroupedReference right = grouped_reference(grouped_inputs(plan.kase, false),
                                                   [&](Count query, Count key) { return plan.sees(query, key); });
  if (!check.equal("y", right.exact.y, right.tolerance.y)) {
    const Output* found = check.output("y");
    if (found != nullptr) diagnose_y(check, plan, {found->values.begin(), found->values.end()});
    return;
  }
  check.equal("lse", right.exact.lse, right.tolerance.lse);
}

SHARDLINGS_CHECK(targets) {
  const Plan plan(check.kase());
  if (!check.identical("targets", targets_right(plan))) diagnose_targets(check, plan);
}

SHARDLINGS_CHECK(balance) {
  const Plan plan(check.kase());
  const auto attention = [&](int rank) {
    Flops sum{};
    for (const Event& event : check.events(rank, EventKind::operation)) {
      if (check.trace(rank).names.at(event.name) == std::string("partial_attention")) sum += event.flops;
    }
    return sum;
  };
  int busiest = 0;
  for (int rank = 1; rank < plan.c; ++rank) {
    if (attention(rank) > attention(busiest)) busiest = rank;
  }
  const Flops mean = plan.cost.flops(plan.all_pairs() / plan.c),
              even = plan.cost.flops(plan.most_pairs(mirrored(plan.c)));
  // Documents of unequal lengths are even for no deal of equal pieces: then the deal is asked for that is even without.
  const Formula<Flops> budget = plan.has_one_document()
                                    ? named("mean of the ranks / 0.95", Flops(mean.value() * 100 / 95))
                                    : named("busiest rank of the deal that is even without documents", even);
  if (check.at_most("attention's operations of " + check.name_of(busiest), attention(busiest), budget)) return;
  diagnose_deal(check, plan);
}

SHARDLINGS_CHECK(time) {
  const Plan plan(check.kase());
  const Formula<Nanos> budget = named("steps of the ring with even pieces", plan.ring(mirrored(plan.c), true));
  const int rank = check.slowest_rank();
  const Standstill longest = longest_standstill(check, rank, Nanos(0), check.end_time(rank));
  if (!check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), budget, longest.place)) {
    diagnose_deal(check, plan);
  }
}

/// What rank `last` computes with the keys of the rank so many places before it.
static Nanos step_of(const Plan& plan, const Pieces& of, int last, int back) {
  const auto& mine = of[static_cast<std::size_t>(last)];
  const auto& theirs = of[static_cast<std::size_t>(last - back)];
  return plan.computing(mine, theirs, plan.merged(mine, theirs));
}

/// Of all queries with all keys that they see.
SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  const Plan plan(check.kase());
  return named("attention of all pairs", plan.cost.flops(plan.all_pairs()));
}

/// Each position of a rank's two pieces is merged with both pieces of every rank.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const Plan plan(check.kase());
  const Count of_rank = 2 * plan.length * plan.cost.batch * plan.cost.width;
  return {{Product::merge_attention, Flops(model::kMergeFlops * 2 * plan.c * of_rank)}};
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const Plan plan(predict.kase());
  // A rank's own keys take another time than those of the others, which are all alike on the rank that ends last.
  const auto steps = [&](const Pieces& of, int last) {
    return named("own keys", step_of(plan, of, last, 0)) +
           (named("c", Count(plan.c)) - 1) * named("keys of another rank", step_of(plan, of, last, 1));
  };
  const Nanos mean = plan.cost.forward(plan.all_pairs() / plan.c), in_row = plan.ring(neighbours(plan.c), false);
  predict.end("time", "When does the run end with your deal?", steps(mirrored(plan.c), plan.c - 1))
      .unlike(named("consecutive pieces", in_row),
              "Consecutive pieces leave the last rank with nearly twice the mean. Which deal has the same for all?");
  predict
      .number("consecutive", "When would it end with two consecutive pieces on each rank?",
              steps(neighbours(plan.c), plan.c - 1))
      .unlike(named("mean of the ranks", mean), "The end is that of the last rank, which sees the keys of all pieces.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const Plan plan(predict.kase());
  const auto step = [&](const Pieces& of, int back) { return step_of(plan, of, plan.c - 1, back); };
  predict.answer(2)
      .number("hop", "How long may a hop take on these 4 ranks, so that nobody waits for keys with your deal?",
              named("keys of another rank", step(mirrored(plan.c), 1)))
      .unlike(named("consecutive pieces", step(neighbours(plan.c), 1)),
              "The last rank of puzzle 27 has so much to do in a step. With your deal all have half of it.")
      .unlike(named("own keys", step(mirrored(plan.c), 0)), "Only the first hop travels beside the own keys.");
}
