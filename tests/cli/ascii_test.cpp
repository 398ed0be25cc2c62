// What terminals show that can show nothing but ASCII.
#include "cli/ascii.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/file.h"
#include "base/utf8.h"

namespace shardlings::cli {
namespace {

TEST(Ascii, HasAWordForEveryCharacterOfTheLessons) {
  std::set<std::string> unknown;
  for (const auto& puzzle : std::filesystem::directory_iterator(SHARDLINGS_SOURCE "/puzzles")) {
    for (const char* name : {"README.md", "after.md", "puzzle.toml"}) {
      const std::string text = read_file((puzzle.path() / name).string()).value_or("");
      for (std::string_view rest = text; !rest.empty();) {
        const std::string character(rest.substr(0, first_character(rest).size));
        if (character != "?" && in_ascii(character) == "?") unknown.insert(character);
        rest.remove_prefix(character.size());
      }
    }
  }
  EXPECT_EQ(unknown, std::set<std::string>());
}

TEST(Ascii, WritesNamesAndLettersOfFormulasOut) {
  EXPECT_EQ(in_ascii("Träff: ⌈log2 N⌉ τ"), "Traeff: ceil(log2 N) tau");
}

}  // namespace
}  // namespace shardlings::cli
