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

}  // namespace shardlings::support
