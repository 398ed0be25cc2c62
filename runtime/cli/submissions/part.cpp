#include "cli/submissions/part.h"

#include <charconv>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "base/hash.h"
#include "cli/error.h"

namespace shardlings::cli::submissions {

namespace {

/// 0: it is no decimal number above 0.
int positive_from(std::string_view digits) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number > 0 ? number : 0;
}

}  // namespace

Part part_from(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const std::string_view all = text;
    const Part part{positive_from(all.substr(0, slash)), positive_from(all.substr(slash + 1))};
    if (part.number != 0 && part.number <= part.count) return part;
  }
  throw UsageError(fmt::format("--part {}: write which part and of how many, as in 3/16. Parts count from 1.", text));
}

void keep_part(Submissions& submissions, const Part& part) {
  std::erase_if(submissions.students, [&part](const Student& student) {
    const std::string& whose = student.group.empty() ? student.id : student.group;
    return hash_of(whose) % static_cast<std::uint64_t>(part.count) != static_cast<std::uint64_t>(part.number - 1);
  });
}

}  // namespace shardlings::cli::submissions
