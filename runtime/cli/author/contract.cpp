#include "cli/author/contract.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

#include "base/file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/toml_section.h"

namespace shardlings::cli::author {

using cases::Manifest;

namespace {

constexpr std::string_view kFile = "contract.toml";

std::string with_single_spaces(const std::string& text) {
  std::istringstream words(text);
  std::string all, word;
  while (words >> word) all += all.empty() ? word : " " + word;
  return all;
}

/// The text of a line of a documentation comment behind its marks; empty for any other line.
std::string comment_text(const std::string& line) {
  const std::string text = trimmed(line);
  return text.starts_with("///") ? text.substr(3) : "";
}

std::string all_comments(const std::string& stub) {
  std::string all;
  for (const std::string& line : lines_of(stub)) all += comment_text(line) + "\n";
  return with_single_spaces(all);
}

/// Where the promise begins in " Wire    one all-reduce": behind one capitalised word and two spaces or more. 0: this
/// line has no label.
std::size_t after_label(const std::string& text) {
  if (text.size() < 3 || text[0] != ' ' || std::isupper(static_cast<unsigned char>(text[1])) == 0) return 0;
  const std::size_t end = text.find(' ', 1);
  if (end == std::string::npos) return 0;
  const bool is_word = std::all_of(text.begin() + 2, text.begin() + static_cast<std::ptrdiff_t>(end),
                                   [](unsigned char letter) { return std::islower(letter) != 0; });
  const std::size_t begin = text.find_first_not_of(' ', end);
  return is_word && begin != std::string::npos && begin - end >= 2 ? begin : 0;
}

/// Throws if the file cannot be read as what it is.
std::vector<Promise> parse(const std::string& text) {
  const toml::table root = toml::parse(text);
  TomlSection all(root, std::string(kFile), "");
  all.has_only({"contract"});
  std::vector<Promise> promises;
  for (TomlSection& section : all.sections("contract")) {
    section.has_only({"sentence", "check", "mutants"});
    Promise promise{with_single_spaces(section.text("sentence")), section.text("check"),
                    section.texts_or_none("mutants")};
    if (promise.mutants.empty()) section.fail("mutants", "at least one mutant has to break the sentence");
    promises.push_back(std::move(promise));
  }
  return promises;
}

/// What does not fit the puzzle.
std::vector<std::string> misfits(const Promise& promise, const Manifest& puzzle, const std::string& comments,
                                 const VariantFile& mutants) {
  std::vector<std::string> found;
  const auto wrong = [&](const std::string& what) {
    found.push_back(fmt::format("{}: \"{}\": {}", kFile, promise.sentence, what));
  };
  if (comments.find(promise.sentence) == std::string::npos) wrong("the stub does not say that");
  std::vector<std::string> checks, names;
  for (const auto& check : puzzle.checks) checks.push_back(check.id);
  for (const Variant& mutant : mutants.variants) names.push_back(mutant.name);
  if (std::find(checks.begin(), checks.end(), promise.check) == checks.end()) {
    wrong(fmt::format("there is no check {}.{}", promise.check, did_you_mean(promise.check, checks)));
  }
  for (const std::string& mutant : promise.mutants) {
    if (mutants.find(mutant)) continue;
    wrong(fmt::format("there is no mutant {}.{}", mutant, did_you_mean(mutant, names)));
  }
  return found;
}

/// Whether the sentence stands in the promise, or goes beyond it.
bool is_about(const std::string& sentence, const std::string& promise) {
  return promise.find(sentence) != std::string::npos || sentence.find(promise) != std::string::npos;
}

}  // namespace

std::vector<std::string> labelled_promises(const std::string& stub) {
  std::vector<std::string> promises;
  std::size_t indent = 0;  // of the promise that is being read; 0: none is
  for (const std::string& line : lines_of(stub)) {
    const std::string text = comment_text(line);
    if (const std::size_t begin = after_label(text)) {
      promises.push_back(text.substr(begin));
      indent = begin;
    } else if (indent > 0 && text.find_first_not_of(' ') == indent) {
      promises.back() += " " + text.substr(indent);
    } else {
      indent = 0;
    }
  }
  for (std::string& promise : promises) promise = with_single_spaces(promise);
  return promises;
}

Contract load_contract(const system::Project& project, const Manifest& puzzle, const std::string& stub,
                       const VariantFile& mutants) {
  Contract contract;
  try {
    const std::string comments = all_comments(stub);
    for (Promise& promise : parse(read_file(project.contract_file(puzzle.id)).value_or(""))) {
      const auto problems = misfits(promise, puzzle, comments, mutants);
      contract.problems.insert(contract.problems.end(), problems.begin(), problems.end());
      if (problems.empty()) contract.promises.push_back(std::move(promise));
    }
  } catch (const toml::parse_error& error) {
    contract.problems.push_back(fmt::format("{}:{}: {}", kFile, error.source().begin.line, error.description()));
    return contract;
  } catch (const std::runtime_error& error) {
    contract.problems.emplace_back(error.what());
    return contract;
  }
  for (const std::string& promise : labelled_promises(stub)) {
    const bool named = std::any_of(contract.promises.begin(), contract.promises.end(),
                                   [&](const Promise& each) { return is_about(each.sentence, promise); });
    if (!named) contract.problems.push_back(fmt::format("{} has nothing that proves \"{}\"", kFile, promise));
  }
  return contract;
}

}  // namespace shardlings::cli::author
