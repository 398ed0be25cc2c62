// The checks of sequences and cursors where nothing is packed, and how they name what is wrong: for the grader.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cursor_log.h"
#include "grading/formulas/data_run.h"
#include "grading/formulas/training.h"

namespace shardlings {

using grading::formulas::DataCase;
using grading::formulas::GridPlace;
using grading::formulas::order_of;
using grading::formulas::place_in_grid;
using grading::formulas::step_from;
using grading::formulas::StepRead;

/// What a rank did in a step.
struct Step {
  Count number = 0;
  Count cursor = 0;  ///< as the rank had it
  Count next = 0;    ///< what it became
  std::vector<Count> sequences;
  Count count = 0;  ///< of sequences; of more than a batch has, the others are not known
  int rank = 0;
  GridPlace place;
};

/// All of them, rank by rank.
inline std::vector<Step> steps_of(const grading::judge::CheckContext& check, const DataCase& of) {
  const auto* output = check.output("steps");
  std::vector<Step> steps;
  const Count columns_of_step = kCursorParts + 1 + of.batch;
  const auto columns = static_cast<std::size_t>(of.steps * columns_of_step + kCursorParts);
  if (output == nullptr || output->values.size() != columns * static_cast<std::size_t>(check.ranks())) return steps;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const float* row = output->values.data() + columns * static_cast<std::size_t>(rank);
    for (Count number = 0; number < of.steps; ++number, row += columns_of_step) {
      Step step{number, logged_cursor(row), logged_cursor(row + columns_of_step), {}, 0, rank, {}};
      step.place = place_in_grid(of, rank, number);
      step.count = static_cast<Count>(row[kCursorParts]);
      const float* first = row + kCursorParts + 1;
      step.sequences.assign(first, first + std::min(step.count, of.batch));
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

using Numbers = std::vector<Count>;

inline Numbers part(const Numbers& all, Range range) {
  const auto size = static_cast<Count>(all.size());
  return {all.begin() + std::min(range.begin, size), all.begin() + std::min(range.end, size)};
}

/// A replica's part of a step.
inline Range share(const Step& step, Count size) {
  return part_of(size, step.place.d, step.place.dp);
}

inline std::string name_of(const grading::judge::CheckContext& check, const Step& step) {
  return fmt::format("{} (replica {}, stage {}, part {}) in step {}, from cursor {} on", check.name_of(step.rank),
                     step.place.dp, step.place.pp, step.place.tp, step.number, step.cursor);
}

inline std::string text_of(const Numbers& numbers) {
  std::string text;
  for (const Count number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  return text.empty() ? "no sequence" : "sequences " + text;
}

/// What a rank reads by a rule.
using Reads = std::function<Numbers(const Step&)>;

inline bool all_read(const std::vector<Step>& steps, const Reads& reads) {
  return std::all_of(steps.begin(), steps.end(), [&](const Step& step) { return step.sequences == reads(step); });
}

/// Some two ranks of one replica read differently in a step.
inline bool replica_disagrees(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& a) {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& b) {
      return a.number == b.number && a.place.dp == b.place.dp && a.sequences != b.sequences;
    });
  });
}

/// Two replicas have a sequence in common in some step.
inline bool same_data_twice(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& a) {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& b) {
      return a.number == b.number && a.place.dp < b.place.dp &&
             std::any_of(a.sequences.begin(), a.sequences.end(), [&](Count sequence) {
               return std::find(b.sequences.begin(), b.sequences.end(), sequence) != b.sequences.end();
             });
    });
  });
}

/// A step whose order is that of a seed which is larger by `more`.
inline Reads shuffled_by(const DataCase& of, std::function<std::uint64_t(const Step&, std::uint64_t epoch)> more) {
  return [&of, more = std::move(more)](const Step& step) {
    const StepRead right = step_from(of, step.cursor);
    const Count begin = step.cursor % of.sequences;
    const auto epoch = static_cast<std::uint64_t>(step.cursor / of.sequences);
    const Numbers all = part(order_of(of, more(step, epoch)), {begin, begin + right.size()});
    return part(all, share(step, right.size()));
  };
}

/// The next `batch` sequences, across the end of the epoch.
inline Numbers across_the_end(const DataCase& of, const Step& step) {
  const auto epoch = static_cast<std::uint64_t>(step.cursor / of.sequences);
  Numbers all = order_of(of, epoch);
  while (static_cast<Count>(all.size()) < of.sequences + of.batch) {
    const Numbers next =
        order_of(of, epoch + static_cast<std::uint64_t>(all.size()) / static_cast<std::uint64_t>(of.sequences));
    all.insert(all.end(), next.begin(), next.end());
  }
  const Count begin = step.cursor % of.sequences;
  return part(part(all, {begin, begin + of.batch}), share(step, of.batch));
}

/// Each d-th sequence, as torch.utils.data's DistributedSampler deals them.
inline Numbers in_turns(const DataCase& of, const Step& step) {
  const StepRead right = step_from(of, step.cursor);
  Numbers turns;
  for (Count i = step.place.dp; i < right.size(); i += step.place.d) {
    turns.push_back(right.sequences[static_cast<std::size_t>(i)]);
  }
  return turns;
}

/// Each replica has its part of a whole batch, also of a step that has fewer sequences: behind the step's end it may
/// have read anything.
inline bool takes_parts_of_a_batch(const DataCase& of, const std::vector<Step>& steps) {
  return std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
    const Range mine = share(step, of.batch);
    const Numbers there = part(step_from(of, step.cursor).sequences, mine);
    return step.count == mine.size() && part(step.sequences, {0, static_cast<Count>(there.size())}) == there;
  });
}

/// Some sequence has a number that the data set does not have.
inline bool reads_what_is_not_there(const DataCase& of, const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    return std::any_of(step.sequences.begin(), step.sequences.end(),
                       [&](Count number) { return number < 0 || number >= of.sequences; });
  });
}

inline void diagnose_sequences(grading::judge::CheckContext& check, const DataCase& of,
                               const std::vector<Step>& steps) {
  const auto is = [&](const Reads& reads) { return all_read(steps, reads); };
  const auto by = [&](auto more) { return is(shuffled_by(of, more)); };
  const auto rank_of = [](const Step& step) { return static_cast<std::uint64_t>(step.rank); };
  const auto replica_of = [](const Step& step) { return static_cast<std::uint64_t>(step.place.dp); };
  // First, since rank and replica are 0 where there is one of them.
  if (by([](const Step&, std::uint64_t) { return std::uint64_t{0}; })) return check.diagnose("same_order_each_epoch");
  if (by([&](const Step& step, std::uint64_t epoch) { return epoch + rank_of(step); }) ||
      by([&](const Step& step, std::uint64_t epoch) { return epoch + replica_of(step); }) ||
      by([&](const Step& step, std::uint64_t) { return rank_of(step); }) ||
      by([&](const Step& step, std::uint64_t) { return replica_of(step); })) {
    return check.diagnose("shuffled_by_rank");
  }
  if (is([&](const Step& step) {
        const StepRead right = step_from(of, step.cursor);
        return part(right.sequences, part_of(right.size(), check.ranks(), step.rank));
      })) {
    return check.diagnose("dealt_to_all_ranks");
  }
  if (is([&](const Step& step) { return across_the_end(of, step); })) return check.diagnose("epochs_mixed");
  if (is([&](const Step& step) { return in_turns(of, step); })) return check.diagnose("dealt_in_turns");
  if (is([&](const Step& step) { return part(step_from(of, step.cursor).sequences, share(step, of.batch)); })) {
    return check.diagnose("dealt_by_batch");
  }
  if (is([&](const Step& step) {
        const Count begin = step.cursor % of.sequences, size = step_from(of, step.cursor).size();
        Numbers files;
        for (Count i = begin; i < begin + size; ++i) files.push_back(i);
        return part(files, share(step, size));
      })) {
    return check.diagnose("not_shuffled");
  }
  if (takes_parts_of_a_batch(of, steps)) return check.diagnose("dealt_by_batch");
  if (reads_what_is_not_there(of, steps)) return check.diagnose("numbers_not_there");
  if (replica_disagrees(steps)) return check.diagnose("replica_disagrees");
  if (same_data_twice(steps)) check.diagnose("same_data_twice");
}

inline void diagnose_cursor(grading::judge::CheckContext& check, const DataCase& of, const std::vector<Step>& steps) {
  const auto is = [&](const auto& next) {
    return std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
      return step.cursor >= 0 && step.next == next(step, step_from(of, step.cursor).size());
    });
  };
  if (is([](const Step& step, Count size) { return step.cursor + share(step, size).size(); })) {
    return check.diagnose("cursor_of_a_replica");
  }
  if (is([&](const Step& step, Count) { return step.cursor + of.batch; })) return check.diagnose("past_the_epoch");
  if (is([](const Step& step, Count) { return step.cursor + 1; })) return check.diagnose("cursor_counts_steps");
  if (is([&](const Step& step, Count size) { return (step.cursor + size) % of.sequences; })) {
    return check.diagnose("epoch_forgotten");
  }
  if (is([&](const Step& step, Count size) {
        const Count next = step.cursor + size, left = of.sequences - next % of.sequences;
        return left < of.batch ? next + left : next;
      })) {
    check.diagnose("rest_skipped");
  }
}

inline void check_cursor(grading::judge::CheckContext& check, const DataCase& of) {
  const std::vector<Step> steps = steps_of(check, of);
  for (const Step& step : steps) {
    const Count size = step.cursor < 0 ? 0 : step_from(of, step.cursor).size();
    if (check.exactly(
            "cursor of " + name_of(check, step), step.next,
            grading::judge::named("cursor", step.cursor) + grading::judge::named("sequences of the step", size),
            "sequences")) {
      continue;
    }
    return diagnose_cursor(check, of, steps);
  }
}

inline void check_sequences(grading::judge::CheckContext& check, const DataCase& of) {
  const std::vector<Step> steps = steps_of(check, of);
  for (const Step& step : steps) {
    if (step.cursor < 0) return;
    const StepRead right = step_from(of, step.cursor);
    const Numbers expected = part(right.sequences, share(step, right.size()));
    const Count count = static_cast<Count>(expected.size());
    if (!check.exactly("sequences read by " + name_of(check, step), step.count,
                       grading::judge::named("part of the replica", count), "sequences")) {
      return diagnose_sequences(check, of, steps);
    }
    if (step.sequences == expected) continue;
    check.fail(fmt::format("{} on {}", text_of(expected), name_of(check, step)), text_of(step.sequences));
    return diagnose_sequences(check, of, steps);
  }
}

}  // namespace shardlings
