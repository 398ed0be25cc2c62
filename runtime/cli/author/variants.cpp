#include "cli/author/variants.h"

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

std::string file_of(const system::Project& project, const std::string& id, VariantKind kind) {
  return kind == VariantKind::mutant ? project.mutants_file(id) : project.right_file(id);
}

std::string folder_of(VariantKind kind) {
  return kind == VariantKind::mutant ? "mutants" : "right";
}

void check_mutant(const Variant& mutant, const Manifest& puzzle) {
  const auto refuse = [&](const std::string& what) { throw VariantError(mutant, mutant.line, what); };
  if (mutant.diagnosis.empty()) refuse("the heading names no diagnosis: == name -> diagnosis");
  const bool is_step = mutant.milestone.empty() || (puzzle.milestone(mutant.milestone) != nullptr &&
                                                    !puzzle.milestone(mutant.milestone)->cases.empty());
  if (!is_step) refuse(fmt::format("puzzle.toml has no milestone {} with cases of its own", mutant.milestone));
  if (mutant.diagnosis == kNoCause) return;
  const bool built_in = !grading::judge::diagnosis_text(puzzle, mutant.diagnosis).empty();
  if (puzzle.diagnosis(mutant.diagnosis) || built_in) return;
  std::vector<std::string> known;
  for (const auto& diagnosis : puzzle.diagnoses) known.push_back(diagnosis.id);
  refuse(fmt::format("puzzle.toml has no diagnosis {}.{}", mutant.diagnosis, did_you_mean(mutant.diagnosis, known)));
}

void check_right(const Variant& variant) {
  if (!variant.milestone.empty()) {
    throw VariantError(variant, variant.line, "a variant that is right passes every milestone: == name");
  }
  if (variant.diagnosis.empty()) return;
  throw VariantError(variant, variant.line, "a variant that is right has no diagnosis: == name");
}

std::string no_such_variant(const Manifest& puzzle, VariantKind kind, const std::string& name,
                            const VariantFile& file) {
  std::vector<std::string> names;
  for (const Variant& variant : file.variants) names.push_back(variant.name);
  std::string message =
      fmt::format("Puzzle {} has no {} \"{}\".{}", puzzle.id, kind == VariantKind::mutant ? "mutant" : "right variant",
                  name, did_you_mean(name, names));
  message += names.empty() ? " It has none." : " It has:";
  for (const std::string& each : names) message += "\n  " + each;
  for (const std::string& problem : file.problems) message += "\n" + problem;
  return message;
}

}  // namespace

VariantFile load_variants(const system::Project& project, const Manifest& puzzle, VariantKind kind) {
  const std::string path = file_of(project, puzzle.id, kind);
  VariantFile all =
      parse_variants(read_file(path).value_or(""), fs::path(path).lexically_relative(project.root).string());
  VariantFile sound{{}, std::move(all.problems)};
  for (Variant& variant : all.variants) {
    try {
      kind == VariantKind::mutant ? check_mutant(variant, puzzle) : check_right(variant);
      sound.variants.push_back(std::move(variant));
    } catch (const VariantError& error) {
      sound.problems.emplace_back(error.what());
    }
  }
  return sound;
}

std::string write_variant(const system::Project& project, const std::string& id, VariantKind kind,
                          const Variant& variant) {
  const std::string text = applied(variant, read_file(project.solution_file(id)).value_or(""));
  const std::string folder = fmt::format("{}/verify/{}/{}", project.build, id, folder_of(kind));
  std::string path = folder + "/" + variant.name + ".cpp";
  if (read_file(path) == text) return path;
  fs::create_directories(folder);
  write_file_atomically(path, text, Outlives::kill);
  return path;
}

std::string write_variant_named(const system::Project& project, const Manifest& puzzle, VariantKind kind,
                                const std::string& name) {
  const VariantFile file = load_variants(project, puzzle, kind);
  const Variant* variant = file.find(name);
  if (!variant) throw UsageError(no_such_variant(puzzle, kind, name, file));
  try {
    return write_variant(project, puzzle.id, kind, *variant);
  } catch (const VariantError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace shardlings::cli::author
