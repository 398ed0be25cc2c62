#include "cli/author/variant_file.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace shardlings::cli::author {

namespace {

constexpr std::string_view kHeading = "== ";
constexpr std::string_view kArrow = " -> ";
constexpr std::string_view kWholeHole = " (whole hole)";
constexpr std::string_view kPasses = " (passes ";
constexpr std::string_view kBetween = "...";

/// A heading and what stands below it, without comments and without the blank lines that end it.
using Stanza = std::vector<Edit::Line>;

/// A line's sign and what follows it.
bool is_edit(const std::string& line) {
  return line.starts_with('-') || line.starts_with('+') || line.starts_with(' ');
}

/// What may be the name of a file.
bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
}

/// Cuts the part from `mark` on off the text.
std::string cut_off(std::string& text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string::npos) return {};
  const std::string rest = text.substr(at + mark.size());
  text.erase(at);
  return rest;
}

/// Reads one stanza.
class StanzaReader {
 public:
  StanzaReader(const Stanza& stanza, const std::string& file) : stanza_(stanza) {
    variant_.file = file;
    variant_.line = stanza[0].number;
  }

  Variant read() {
    read_heading(stanza_[0].text);
    std::size_t at = 1;
    for (; at < stanza_.size() && !is_edit(stanza_[at].text); ++at) read_sentence(stanza_[at]);
    if (variant_.sentence.empty()) refuse(variant_.line, "no sentence below the heading says what is different");
    if (at == stanza_.size()) refuse(variant_.line, "there are no lines that go or come");
    for (; at < stanza_.size(); ++at) read_line(stanza_[at]);
    close_edit();
    return std::move(variant_);
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& what) const { throw VariantError(variant_, line, what); }

  void read_heading(std::string text) {
    text.erase(0, kHeading.size());
    variant_.whole_hole = text.ends_with(kWholeHole);
    if (variant_.whole_hole) text.erase(text.size() - kWholeHole.size());
    read_milestone(text);
    const bool arrow = text.find(kArrow) != std::string::npos;
    const std::string diagnosis = cut_off(text, kArrow);
    if (!is_name(text) || (arrow && !is_name(diagnosis))) {
      refuse(variant_.line, "a heading is \"== name -> diagnosis\", of small letters, digits and _");
    }
    variant_.name = text;
    variant_.diagnosis = diagnosis;
  }

  /// "(passes a)": cuts it off.
  void read_milestone(std::string& text) {
    if (!text.ends_with(')')) return;
    std::string letter = cut_off(text, kPasses);
    if (letter.size() != 2 || !std::islower(static_cast<unsigned char>(letter[0]))) {
      refuse(variant_.line,
             "behind the diagnosis stands nothing, or \"(whole hole)\", or \"(passes a)\" of a milestone");
    }
    variant_.milestone = letter.substr(0, 1);
  }

  void read_sentence(const Edit::Line& line) {
    if (line.text.empty()) refuse(line.number, "a blank line ends a stanza");
    if (line.text == kBetween) refuse(line.number, "\"...\" stands between two edits");
    variant_.sentence += (variant_.sentence.empty() ? "" : " ") + line.text;
  }

  void read_line(const Edit::Line& line) {
    if (line.text == kBetween) {
      if (variant_.whole_hole) refuse(line.number, "a whole hole has lines that come, and no others");
      close_edit();
      begin_ = line.number + 1;
      return;
    }
    if (line.text.empty()) refuse(line.number, "a blank line ends a stanza; + or - stands for one that comes or goes");
    if (!is_edit(line.text)) refuse(line.number, "a line of an edit begins with -, + or a space");
    if (edit_.before.empty() && edit_.after.empty()) begin_ = line.number;
    add(line.text[0], {line.number, line.text.substr(1)});
  }

  void add(char sign, const Edit::Line& line) {
    if (variant_.whole_hole && sign != '+') refuse(line.number, "a whole hole has lines that come, and no others");
    changes_ = changes_ || sign != ' ';
    if (sign != '+') edit_.before.push_back(line);
    if (sign != '-') edit_.after.push_back(line);
  }

  void close_edit() {
    if (!changes_) refuse(begin_, "an edit without a line that goes or comes");
    if (edit_.before.empty() && !variant_.whole_hole) {
      refuse(begin_, "nothing says where these lines go; a line that stays, above or below, begins with a space");
    }
    variant_.edits.push_back(std::move(edit_));
    edit_ = {};
    changes_ = false;
  }

  const Stanza& stanza_;
  Variant variant_;
  Edit edit_;             ///< the one that is being read
  bool changes_ = false;  ///< it has a line that goes or comes
  int begin_ = 0;         ///< where it begins
};

/// Cuts the text before every heading; lines above the first one are a problem.
std::vector<Stanza> stanzas_of(const std::string& text, const std::string& file, std::vector<std::string>& problems) {
  std::vector<Stanza> stanzas;
  int number = 0;
  for (std::string line : lines_of(text)) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with('#')) continue;
    if (line.starts_with(kHeading)) stanzas.emplace_back();
    if (!stanzas.empty()) {
      stanzas.back().push_back({number, line});
    } else if (!line.empty()) {
      problems.push_back(VariantError(file, number, "stands above the first heading, \"== name\"").what());
    }
  }
  for (Stanza& stanza : stanzas) {
    while (stanza.back().text.empty()) stanza.pop_back();
  }
  return stanzas;
}

}  // namespace

const Variant* VariantFile::find(const std::string& name) const {
  const auto at = std::find_if(variants.begin(), variants.end(), [&](const Variant& v) { return v.name == name; });
  return at == variants.end() ? nullptr : &*at;
}

VariantFile parse_variants(const std::string& text, const std::string& file) {
  VariantFile result;
  for (const Stanza& stanza : stanzas_of(text, file, result.problems)) {
    try {
      Variant variant = StanzaReader(stanza, file).read();
      if (const Variant* other = result.find(variant.name)) {
        throw VariantError(variant, variant.line,
                           fmt::format("line {} has a variant of that name already", other->line));
      }
      result.variants.push_back(std::move(variant));
    } catch (const VariantError& error) {
      result.problems.emplace_back(error.what());
    }
  }
  return result;
}

}  // namespace shardlings::cli::author
