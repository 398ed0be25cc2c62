#include "cli/author/scaffold.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/error.h"

namespace shardlings::cli::author {

namespace fs = std::filesystem;

namespace {

/// "50" and "my_puzzle".
struct Name {
  std::string number, rest;
};

bool is_word(const std::string& text) {
  return !text.empty() && std::islower(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
}

Name parse_name(const std::string& id) {
  const auto bar = id.find('_');
  const std::string number = id.substr(0, bar), rest = bar == std::string::npos ? "" : id.substr(bar + 1);
  const bool good = number.size() == 2 && number.find_first_not_of("0123456789") == std::string::npos && is_word(rest);
  if (!good) {
    throw UsageError(
        fmt::format("\"{}\" cannot be a puzzle. A puzzle is called by two digits and small letters, such as "
                    "50_my_puzzle.",
                    id));
  }
  return {number, rest};
}

/// Every number is used once, or `./shardlings run 50` would not know which.
void refuse_if_taken(const system::Project& project, const Name& name) {
  for (const std::string& folder : {project.puzzles(), project.solutions()}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string other = entry.path().filename().string();
      if (other.starts_with(name.number + "_")) {
        throw UsageError(
            fmt::format("Number {} is taken by {}.", name.number, system::shown_path(entry.path().string())));
      }
    }
  }
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string title_of(const Name& name) {
  std::string title = replaced(name.rest, "_", " ");
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

/// Every file below a folder, in order.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// A file that is there already is written over.
void instantiate(const fs::path& from, const fs::path& to, const Name& name, std::vector<std::string>& made) {
  for (const fs::path& source : files_below(from)) {
    if (source.extension() != ".in") continue;
    const fs::path target = to / fs::relative(source, from).replace_extension();
    fs::create_directories(target.parent_path());
    std::string text = read_file(source.string()).value_or("");
    text = replaced(text, "@NUMBER@", name.number);
    text = replaced(text, "@NAME@", name.rest);
    write_file_atomically(target.string(), replaced(text, "@TITLE@", title_of(name)));
    if (std::find(made.begin(), made.end(), target.string()) == made.end()) made.push_back(target.string());
  }
}

}  // namespace

std::vector<std::string> make_puzzle(const system::Project& project, const std::string& id, Asks asks) {
  const Name name = parse_name(id);
  refuse_if_taken(project, name);
  std::vector<std::string> made;
  const auto use = [&](const std::string& folder) {
    instantiate(folder + "/puzzle", project.puzzle_folder(id), name, made);
    instantiate(folder + "/solution", project.solution_folder(id), name, made);
  };
  use(project.puzzle_template());
  // What is different where the puzzle is a question.
  if (asks == Asks::a_question) use(project.puzzle_template() + "/question");
  if (made.empty()) throw UsageError("The template is missing: " + system::shown_path(project.puzzle_template()));
  return made;
}

std::vector<std::string> blanks_left(const system::Project& project, const std::string& id) {
  std::vector<std::string> blanks;
  for (const std::string& folder : {project.puzzle_folder(id), project.solution_folder(id)}) {
    for (const fs::path& file : files_below(folder)) {
      int number = 0;
      for (const std::string& line : lines_of(read_file(file.string()).value_or(""))) {
        ++number;
        if (line.find(kBlank) == std::string::npos) continue;
        blanks.push_back(fmt::format("{}:{}", fs::relative(file, project.root).string(), number));
      }
    }
  }
  return blanks;
}

}  // namespace shardlings::cli::author
