/// \file
/// How much is told of hidden cases: that is the instructor's choice, for each of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/words.h"
#include "grading/verdict/verdict.h"

namespace shardlings::grading::verdict {

enum class Feedback : std::uint8_t {
  full,  ///< everything, as of announced cases
  law,   ///< its name, and which checks do not hold
  none   ///< only that there is a hidden case on which they do not hold
};
inline constexpr Words<Feedback, 3> kFeedbackWords{{"full", "law", "none"}};

struct FeedbackRules {
  Feedback usual = Feedback::full;          ///< of hidden cases
  std::map<std::string, Feedback> of_case;  ///< by name, of those that have a level of their own

  Feedback of(const std::string& case_name) const;
  bool tells_all() const;
};

/// Takes out of a verdict what its readers are not to see. Points and the outcome of each check stay as they are.
void conceal(Verdict& verdict, const FeedbackRules& rules);

}  // namespace shardlings::grading::verdict
