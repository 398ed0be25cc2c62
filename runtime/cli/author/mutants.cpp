#include "cli/author/mutants.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/suggest.h"
#include "cli/error.h"
#include "grading/judge/diagnosis.h"

namespace shardlings::cli::author {

namespace fs = std::filesystem;
using cases::Manifest;

namespace {

void check_diagnosis(const Variant& mutant, const Manifest& puzzle) {
  const auto refuse = [&](const std::string& what) { throw VariantError(mutant, mutant.line, what); };
  if (mutant.diagnosis.empty()) refuse("the heading names no diagnosis: == name -> diagnosis");
  const bool built_in = !grading::judge::diagnosis_text(puzzle, mutant.diagnosis).empty();
  if (puzzle.diagnosis(mutant.diagnosis) || built_in) return;
  std::vector<std::string> known;
  for (const auto& diagnosis : puzzle.diagnoses) known.push_back(diagnosis.id);
  refuse(fmt::format("puzzle.toml has no diagnosis {}.{}", mutant.diagnosis, did_you_mean(mutant.diagnosis, known)));
}

std::string no_such_mutant(const Manifest& puzzle, const std::string& name, const VariantFile& mutants) {
  std::vector<std::string> names;
  for (const Variant& mutant : mutants.variants) names.push_back(mutant.name);
  std::string message = fmt::format("Puzzle {} has no mutant \"{}\".{}", puzzle.id, name, did_you_mean(name, names));
  message += names.empty() ? " It has none." : " It has:";
  for (const std::string& each : names) message += "\n  " + each;
  for (const std::string& problem : mutants.problems) message += "\n" + problem;
  return message;
}

}  // namespace

VariantFile load_mutants(const system::Project& project, const Manifest& puzzle) {
  const std::string path = project.mutants_file(puzzle.id);
  VariantFile all =
      parse_variants(read_file(path).value_or(""), fs::path(path).lexically_relative(project.root).string());
  VariantFile sound{{}, std::move(all.problems)};
  for (Variant& mutant : all.variants) {
    try {
      check_diagnosis(mutant, puzzle);
      sound.variants.push_back(std::move(mutant));
    } catch (const VariantError& error) {
      sound.problems.emplace_back(error.what());
    }
  }
  return sound;
}

std::string write_mutant(const system::Project& project, const std::string& id, const Variant& mutant) {
  const std::string text = applied(mutant, read_file(project.solution_file(id)).value_or(""));
  const std::string folder = project.build + "/verify/" + id + "/mutants";
  std::string path = folder + "/" + mutant.name + ".cpp";
  if (read_file(path) == text) return path;
  fs::create_directories(folder);
  write_file_atomically(path, text, Outlives::kill);
  return path;
}

std::string write_mutant_named(const system::Project& project, const Manifest& puzzle, const std::string& name) {
  const VariantFile mutants = load_mutants(project, puzzle);
  const Variant* mutant = mutants.find(name);
  if (!mutant) throw UsageError(no_such_mutant(puzzle, name, mutants));
  try {
    return write_mutant(project, puzzle.id, *mutant);
  } catch (const VariantError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace shardlings::cli::author
