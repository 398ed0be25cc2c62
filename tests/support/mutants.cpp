#include "support/mutants.h"

#include <stdexcept>

#include "base/file.h"
#include "cli/author/variant_file.h"

namespace shardlings::support {

std::string text_of_mutant(const std::string& solutions, const std::string& id, const std::string& name) {
  const std::string folder = solutions + "/" + id, file = folder + "/mutants.txt";
  const cli::author::VariantFile mutants = cli::author::parse_variants(read_file(file).value_or(""), file);
  const cli::author::Variant* mutant = mutants.find(name);
  if (!mutant) throw std::runtime_error(file + " has no mutant " + name);
  return cli::author::applied(*mutant, read_file(folder + "/solution.cpp").value_or(""));
}

std::vector<std::string> names_of_mutants(const std::string& solutions, const std::string& id,
                                          const std::set<std::string>& diagnoses) {
  const std::string file = solutions + "/" + id + "/mutants.txt";
  std::vector<std::string> names;
  for (const cli::author::Variant& mutant : cli::author::parse_variants(read_file(file).value_or(""), file).variants) {
    if (diagnoses.empty() || diagnoses.contains(mutant.diagnosis)) names.push_back(mutant.name);
  }
  return names;
}

}  // namespace shardlings::support
