#include "grading/formulas/data_packing.h"

#include <algorithm>
#include <utility>

namespace shardlings::grading::formulas {
namespace {

using Tokens = std::vector<PackedToken>;
using Numbers = std::vector<Count>;

/// The documents in this order, one behind another; what they see is counted in the whole row of them.
Tokens joined(const DataCase& of, const Numbers& order) {
  Numbers begins(of.lengths.size());
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] = begins[i - 1] + of.lengths[i - 1];
  Tokens tokens;
  for (const Count document : order) {
    const auto begin = static_cast<Count>(tokens.size());
    const Count first = begins[static_cast<std::size_t>(document)];
    const Count length = of.lengths[static_cast<std::size_t>(document)];
    for (Count i = 0; i < length; ++i) tokens.push_back({first + i, i + 1 < length ? first + i + 1 : -1, begin});
  }
  return tokens;
}

/// So many sequences of s tokens, cut from a place on.
Tokens cut(const Tokens& tokens, Count begin, Count sequences, Count s) {
  const Count end = std::min(begin + sequences * s, static_cast<Count>(tokens.size()));
  Tokens own;
  for (Count at = begin; at < end; ++at) {
    const Count first = begin + (at - begin) / s * s;
    own.push_back(tokens[static_cast<std::size_t>(at)]);
    own.back().sees = std::max(Count(0), own.back().sees - first);
  }
  return own;
}

Tokens slice(const Tokens& tokens, Range range) {
  const auto size = static_cast<Count>(tokens.size());
  return {tokens.begin() + std::min(range.begin, size), tokens.begin() + std::min(range.end, size)};
}

Numbers order_at(const DataCase& of, Count cursor) {
  return order_of(of, static_cast<std::uint64_t>(cursor / of.tokens()));
}

/// The step of an epoch that has another order, dealt as it should be.
Tokens with_order(const DataCase& of, Count step, Count cursor, int d, int r, const Numbers& order) {
  const Count s = packed_length(of, step);
  PackedStep other{cursor, s, cut(joined(of, order), cursor % of.tokens(), of.batch, s)};
  return slice(other.tokens, other.part(d, r));
}

/// Documents that do not fit into what is left of a sequence begin the next one; padding has the number -1.
Tokens not_cut(const DataCase& of, const Numbers& order, Count s) {
  Tokens tokens, all = joined(of, order);
  std::size_t at = 0;
  for (const Count document : order) {
    const Count length = of.lengths[static_cast<std::size_t>(document)];
    const Count left = s - static_cast<Count>(tokens.size()) % s;
    if (length > left && left < s) tokens.resize(tokens.size() + static_cast<std::size_t>(left), {-1, -1, 0});
    for (Count i = 0; i < length; ++i) tokens.push_back(all[at++]);
  }
  return tokens;
}

/// Each replica has its part of a whole batch, also of a step that has fewer sequences.
Tokens dealt_by_batch(const DataCase& of, Count step, Count cursor, int d, int r) {
  const PackedStep right = packed_step_from(of, step, cursor);
  const Range mine = part_of(of.batch, d, r);
  return slice(right.tokens, {mine.begin * right.s, mine.end * right.s});
}

/// Each replica packs every d-th document for itself.
Tokens by_replica(const DataCase& of, Count step, Count cursor, int d, int r) {
  Numbers own;
  const Numbers order = order_at(of, cursor);
  for (std::size_t i = static_cast<std::size_t>(r); i < order.size(); i += static_cast<std::size_t>(d)) {
    own.push_back(order[i]);
  }
  const Range mine = part_of(of.batch, d, r);
  return cut(joined(of, own), cursor % of.tokens() / d, mine.size(), packed_length(of, step));
}

/// The right tokens, with numbers by their place in the epoch.
Tokens by_place(const DataCase& of, Count step, Count cursor, int d, int r) {
  const PackedStep right = packed_step_from(of, step, cursor);
  const Range mine = right.part(d, r);
  Tokens tokens = slice(right.tokens, mine);
  Count place = cursor % of.tokens() + mine.begin;
  for (PackedToken& own : tokens) {
    own.token = place++;
    own.target = own.target < 0 ? -1 : place;
  }
  return tokens;
}

/// The last sequence of an epoch is left out unless it is full.
Tokens full_sequences(const DataCase& of, Count step, Count cursor, int d, int r) {
  const PackedStep right = packed_step_from(of, step, cursor);
  const Range mine = part_of(right.size() / right.s, d, r);
  return slice(right.tokens, {mine.begin * right.s, mine.end * right.s});
}

/// What a mistake knows of a token beside itself.
struct AroundToken {
  Count step = 0;      ///< where the step begins in the epoch
  Count sequence = 0;  ///< where its sequence begins in the step
  Count document = 0;  ///< and its document: before the step if negative
  bool ends_sequence = false, ends_part = false, ends_step = false;
  Count next = -1;         ///< the token behind it in the epoch
  Count next_number = -1;  ///< the token behind it in the data set
};

/// The right tokens, each changed.
KnownPacking changed(const char* diagnosis, std::function<void(PackedToken&, const AroundToken&)> change) {
  return {diagnosis, [change = std::move(change)](const DataCase& of, Count step, Count cursor, int d, int r) {
            const PackedStep right = packed_step_from(of, step, cursor);
            const Range mine = right.part(d, r);
            const Tokens epoch = joined(of, order_at(of, cursor));
            Tokens tokens = slice(right.tokens, mine);
            for (Count i = 0; i < mine.size(); ++i) {
              PackedToken& own = tokens[static_cast<std::size_t>(i)];
              const Count begin = cursor % of.tokens(), at = mine.begin + i;
              const auto here = static_cast<std::size_t>(begin + at), next = here + 1;
              change(own, {begin, at / right.s * right.s, epoch[here].sees - begin, i % right.s + 1 == right.s,
                           i + 1 == mine.size(), at + 1 == right.size(), next < epoch.size() ? epoch[next].token : -1,
                           own.token + 1});
            }
            return tokens;
          }};
}

}  // namespace

Count PackedStep::with_target() const {
  return std::count_if(tokens.begin(), tokens.end(), [](const PackedToken& own) { return own.target >= 0; });
}

Range PackedStep::part(int d, int r) const {
  const Range mine = part_of(sequences(), d, r);
  return {std::min(mine.begin * s, size()), std::min(mine.end * s, size())};
}

Count packed_length(const DataCase& of, Count step) {
  return step < of.kase.steps ? of.s : of.kase.integer("sequence_later");
}

PackedStep packed_step_from(const DataCase& of, Count step, Count cursor) {
  const Count s = packed_length(of, step);
  return {cursor, s, cut(joined(of, order_at(of, cursor)), cursor % of.tokens(), of.batch, s)};
}

std::vector<PackedStep> all_packed_steps(const DataCase& of) {
  std::vector<PackedStep> steps;
  Count cursor = of.kase.integer("cursor");
  for (Count step = 0; step < of.steps; ++step) {
    steps.push_back(packed_step_from(of, step, cursor));
    cursor += steps.back().size();
  }
  return steps;
}

std::vector<KnownPacking> known_packings() {
  const auto rounded = [](const DataCase& of, Count step, Count cursor, int d, int r) {
    const Count s = packed_length(of, step), begin = cursor % of.tokens() / s * s;
    PackedStep other{cursor, s, cut(joined(of, order_at(of, cursor)), begin, of.batch, s)};
    return slice(other.tokens, other.part(d, r));
  };
  const auto by_tokens = [](const DataCase& of, Count step, Count cursor, int d, int r) {
    const PackedStep right = packed_step_from(of, step, cursor);
    return slice(right.tokens, part_of(right.size(), d, r));
  };
  const auto whole_documents = [](const DataCase& of, Count step, Count cursor, int d, int r) {
    const Count s = packed_length(of, step);
    PackedStep other{cursor, s, cut(not_cut(of, order_at(of, cursor), s), cursor % of.tokens(), of.batch, s)};
    return slice(other.tokens, other.part(d, r));
  };
  const auto same_order = [](const DataCase& of, Count step, Count cursor, int d, int r) {
    return with_order(of, step, cursor, d, r, order_of(of, 0));
  };
  const auto not_shuffled = [](const DataCase& of, Count step, Count cursor, int d, int r) {
    Numbers order(of.lengths.size());
    std::iota(order.begin(), order.end(), Count(0));
    return with_order(of, step, cursor, d, r, order);
  };
  const auto by_replica_seed = [](const DataCase& of, Count step, Count cursor, int d, int r) {
    const auto epoch = static_cast<std::uint64_t>(cursor / of.tokens());
    return with_order(of, step, cursor, d, r, order_of(of, epoch + static_cast<std::uint64_t>(r)));
  };
  return {{"same_order_each_epoch", same_order},     {"cursor_rounded", rounded},
          {"packed_by_replica", by_replica},         {"dealt_by_tokens", by_tokens},
          {"dealt_by_batch", dealt_by_batch},        {"documents_kept_whole", whole_documents},
          {"last_sequence_dropped", full_sequences}, {"shuffled_by_rank", by_replica_seed},
          {"numbered_by_place", by_place, true},     {"not_shuffled", not_shuffled, true}};
}

std::vector<KnownPacking> known_targets() {
  return {
      changed("targets_across_documents",
              [](PackedToken& own, const AroundToken& around) { own.target = around.next; }),
      changed("targets_across_documents",
              [](PackedToken& own, const AroundToken& around) { own.target = around.next_number; }),
      changed("ends_of_sequences_dropped",
              [](PackedToken& own, const AroundToken& around) {
                if (around.ends_sequence) own.target = -1;
              }),
      changed("end_of_step_dropped",
              [](PackedToken& own, const AroundToken& around) {
                if (around.ends_step) own.target = -1;
              }),
      changed("end_of_step_dropped",
              [](PackedToken& own, const AroundToken& around) {
                if (around.ends_part) own.target = -1;
              }),
      changed("own_token", [](PackedToken& own, const AroundToken&) { own.target = own.token; }),
      changed("seen_from_the_step", [](PackedToken& own, const AroundToken& around) { own.sees += around.sequence; }),
      changed("seen_from_the_step",
              [](PackedToken& own, const AroundToken& around) { own.sees = std::max(around.document, Count(0)); }),
      changed("seen_from_the_epoch",
              [](PackedToken& own, const AroundToken& around) { own.sees = around.step + around.document; }),
      changed("seen_before_the_sequence",
              [](PackedToken& own, const AroundToken& around) { own.sees = around.document - around.sequence; }),
      changed("documents_ignored", [](PackedToken& own, const AroundToken&) { own.sees = 0; })};
}

}  // namespace shardlings::grading::formulas
