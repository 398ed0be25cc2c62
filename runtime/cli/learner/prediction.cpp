#include "cli/learner/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "cli/error.h"

namespace shardlings::cli::learner {

using grading::verdict::Unit;
using grading::verdict::Written;

namespace {

/// A word that may follow a number, and what it makes of it.
struct UnitWord {
  const char* word;  ///< in small letters
  Unit unit;
  double factor;
  double other = 0;  ///< the factor of the same letter in the other thousands; 0 where there are none
};

constexpr double kKilo = 1e3, kKibi = 1024, kMega = 1e6, kMebi = kKibi * kKibi, kGiga = 1e9, kGibi = kKibi * kMebi;

constexpr std::array kUnitWords = {UnitWord{"b", Unit::bytes, 1},
                                   UnitWord{"byte", Unit::bytes, 1},
                                   UnitWord{"bytes", Unit::bytes, 1},
                                   UnitWord{"kb", Unit::bytes, kKilo, kKibi},
                                   UnitWord{"kib", Unit::bytes, kKibi, kKilo},
                                   UnitWord{"mb", Unit::bytes, kMega, kMebi},
                                   UnitWord{"mib", Unit::bytes, kMebi, kMega},
                                   UnitWord{"gb", Unit::bytes, kGiga, kGibi},
                                   UnitWord{"gib", Unit::bytes, kGibi, kGiga},
                                   UnitWord{"ns", Unit::ns, 1},
                                   UnitWord{"us", Unit::ns, 1e3},
                                   UnitWord{"\xC2\xB5s", Unit::ns, 1e3},
                                   UnitWord{"\xCE\xBCs", Unit::ns, 1e3},
                                   UnitWord{"ms", Unit::ns, 1e6},
                                   UnitWord{"s", Unit::ns, 1e9}};

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// What a time of so many nanoseconds is asked for in: from a hundred seconds on nobody counts in milliseconds.
UnitWord time_asked(std::int64_t time) {
  constexpr std::int64_t kMicrosecond = 1'000, kMillisecond = 1'000'000, kHundredSeconds = 100'000'000'000;
  if (time >= kHundredSeconds) return {"s", Unit::ns, 1e9};
  if (time >= kMillisecond) return {"ms", Unit::ns, 1e6};
  if (time >= kMicrosecond) return {"us", Unit::ns, 1e3};
  return {"ns", Unit::ns, 1};
}

/// What a bare number is multiplied with.
double factor_asked(const Question& question) {
  return question.unit == Unit::ns ? time_asked(question.value).factor : 1;
}

std::string example_of(const Question& question) {
  if (question.unit == Unit::bytes) return "such as 12.5KiB, 12.5KB or 12800";
  if (question.unit == Unit::ns) return "such as 18ms, 250us or 18.5";
  return "such as 3";
}

[[noreturn]] void refuse(const std::string& answer, const Question& question, const std::string& why) {
  const std::string unit = unit_asked(question);
  throw UsageError(fmt::format("{}={}: {}. It should be a number{}{}, {}.", question.id, answer, why,
                               unit.empty() ? "" : " of ", unit, example_of(question)));
}

/// What stands behind the number.
UnitWord unit_of(const std::string& word, const std::string& answer, const Question& question) {
  if (word.empty()) return {"", question.unit, factor_asked(question)};
  if (question.unit == Unit::count || question.unit == Unit::flops) {
    // "1 call" is as good as "1 calls", and "rank 3" is no number.
    if (question.counted.starts_with(word) || question.unit == Unit::flops) return {"", question.unit, 1};
    refuse(answer, question, fmt::format("\"{}\" is not what is counted", word));
  }
  const auto found =
      std::find_if(kUnitWords.begin(), kUnitWords.end(), [&](const UnitWord& unit) { return word == unit.word; });
  if (found == kUnitWords.end()) refuse(answer, question, fmt::format("there is no unit \"{}\"", word));
  if (found->unit != question.unit) {
    refuse(answer, question, found->unit == Unit::bytes ? "those are bytes" : "that is a time");
  }
  return *found;
}

struct Answered {
  double number;
  UnitWord in;
};

Answered read(const std::string& answer, const Question& question) {
  std::string text = trimmed(answer);
  std::erase(text, '_');
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) refuse(answer, question, "that is no number");
  const std::string word = in_small_letters(trimmed(std::string_view(end, text.data() + text.size())));
  if (word.starts_with(',')) refuse(answer, question, "a comma divides nothing here, write 12.5");
  return {number, unit_of(word, answer, question)};
}

/// The answer is right if its unit is taken in the other thousands: 54.83 GB, where so many GiB would be right. Other
/// numbers that are off by two, five or seven percent are mistakes of another kind.
std::string mixed_up_units(const Answered& answer, const Question& question) {
  const double meant = answer.number * answer.in.other;
  if (meant == 0 || !is_within(meant, question.value, question.unit, Written::rounded)) return {};
  return "It would be right in the other thousands: a KB are 1000 bytes, a KiB are 1024.";
}

/// "q", "outputs": a name for the number, and no way to it.
bool is_mere_name(const std::string& formula) {
  constexpr std::string_view kSigns[] = {"=", " + ", " - ", " x ", "/", "(", ","};
  return std::none_of(std::begin(kSigns), std::end(kSigns),
                      [&](std::string_view sign) { return formula.find(sign) != std::string::npos; });
}

}  // namespace

std::string unit_asked(const Question& question) {
  if (question.unit == Unit::ns) return time_asked(question.value).word;
  return grading::verdict::name_of(question.unit, question.counted);
}

double number_in(const std::string& answer, const Question& question) {
  const Answered read_as = read(answer, question);
  return read_as.number * read_as.in.factor;
}

Written written_as(const std::string& answer) {
  // "1.3e4" has two figures.
  const bool has_exponent = answer.find_first_of("eE") < answer.find_first_of("abcdfghijklmnopqrstuvwxyz ");
  return answer.find_first_of("kKmMgG") == std::string::npos && !has_exponent ? Written::in_full : Written::rounded;
}

std::string echo_of(double number, const Question& question) {
  const double rounded = std::round(number);
  if (std::abs(rounded) > 1e15)
    return fmt::format("{:g} {}", number, grading::verdict::name_of(question.unit, question.counted));
  if (question.unit == Unit::count && rounded != number) return fmt::format("{:g} {}", number, question.counted);
  return grading::verdict::amount_text(static_cast<std::int64_t>(rounded), question.unit, question.counted);
}

std::string why_wrong(const std::string& answer, const Question& question) {
  const double number = number_in(answer, question);
  const std::string size = number > static_cast<double>(question.value) ? "Too large." : "Too small.";
  const bool which = question.unit == Unit::count && question.counted.empty();  // of several: it has no size
  const auto* mistake = misconception_of(question, number, written_as(answer));
  if (which) return mistake ? mistake->reason : "It is another one.";
  if (mistake) return size + " " + mistake->reason;
  if (is_within(number, question.value, question.unit, Written::rounded)) {
    return size +
           " You are less than 1 % off: something small is missing, or counted too often. Bytes that are written "
           "in full are judged exactly; rounded ones have a KB or KiB.";
  }
  const std::string mixed_up = mixed_up_units(read(answer, question), question);
  return mixed_up.empty() ? size : mixed_up;
}

std::string number_of(const Question& question) {
  const std::string number = grading::verdict::amount_text(question.value, question.unit, question.counted);
  const bool says_more = !is_mere_name(question.formula) && question.formula != std::to_string(question.value);
  return says_more ? number + " = " + question.formula : number;
}

void note_answer(PastAnswers& past, const grading::verdict::Predictions& asked, const std::string& id, bool right) {
  // Questions may have changed since: those that are gone count no more.
  std::erase_if(past.answers, [&](const auto& entry) {
    return std::none_of(asked.questions.begin(), asked.questions.end(),
                        [&](const Question& question) { return question.id == entry.first; });
  });
  past.note(id, right);
  past.asked = static_cast<int>(asked.questions.size());
}

}  // namespace shardlings::cli::learner
