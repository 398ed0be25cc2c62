// The lists of symbols against the public headers and the library that they describe.
#include "grading/build/allowed_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "base/file.h"
#include "grading/build/object_file.h"
#include "grading/build/toolchain.h"
#include "grading/run/process.h"

namespace shardlings::grading::build {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool is_allowed(const std::string& symbol) {
  return may_use(symbol, read_mangled(symbol));
}

TEST(MangledName, HasItsOwners) {
  EXPECT_THAT(read_mangled("_Z4workid").parts, ElementsAre("work"));
  EXPECT_THAT(read_mangled("_ZNK10shardlings5Model10num_layersENS_8LocationE").parts,
              ElementsAre("shardlings", "Model", "num_layers"));
  EXPECT_THAT(read_mangled("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm").parts,
              ElementsAre("std", "__cxx11", "basic_string", "_M_create"));
  EXPECT_THAT(read_mangled("_ZNKSt5ctypeIcE13_M_widen_initEv").parts, ElementsAre("std", "ctype", "_M_widen_init"));
  EXPECT_THAT(read_mangled("_ZNSt6vectorIN1a1bILb0EEESaIS2_EE4pushEv").parts, ElementsAre("std", "vector", "push"));
  EXPECT_THAT(read_mangled("_ZNSt6vectorIS").parts, ElementsAre("std", "vector", "?"));
  EXPECT_THAT(read_mangled("_ZNSo9_M_insertIdEERSoT_").parts, ElementsAre("std", "basic_ostream", "_M_insert"));
  EXPECT_THAT(read_mangled("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc").parts, ElementsAre("std", "ls"));
  EXPECT_THAT(read_mangled("_ZNKRSt7__cxx1115basic_stringbufIcE3strEv").parts,
              ElementsAre("std", "__cxx11", "basic_stringbuf", "str"));
  EXPECT_THAT(read_mangled("_Znwm").parts, ElementsAre("nw"));
  EXPECT_THAT(read_mangled("_ZThn16_N7Derived1fEv").parts, ElementsAre("Derived", "f"));
  EXPECT_THAT(read_mangled("_ZTv0_n24_N7Derived1fEv").parts, ElementsAre("Derived", "f"));
  EXPECT_THAT(read_mangled("_ZZ4workvE5count").parts, ElementsAre("work"));
  EXPECT_THAT(read_mangled("_ZZN3std4workEvE5count").parts, ElementsAre("std", "work"));
  EXPECT_EQ(read_mangled("_ZTVSt9exception").table, "TV");
  EXPECT_THAT(read_mangled("_ZTIi").parts, IsEmpty());
  EXPECT_FALSE(read_mangled("memcpy").is_cpp);
  for (const char* odd : {"_Z", "_ZN", "_ZN99", "_ZN99999999999999999999x", "_ZTh", "_ZTv", "_Z0", "_ZNSt"}) {
    EXPECT_TRUE(read_mangled(odd).is_cpp) << odd;
  }
}

TEST(AllowedSymbols, AreThoseOfThePublicHeaders) {
  std::string headers;
  for (const auto& entry :
       std::filesystem::directory_iterator(SHARDLINGS_SOURCE_FOLDER "/runtime/include/shardlings")) {
    headers += read_whole_file(entry.path().string());
  }
  const std::regex declaration(
      R"(\n(?:class|struct)(?: \[\[nodiscard\]\])?(?: SHARDLINGS_API)? (\w+)(?: : public \w+)? \{|SHARDLINGS_API [\w:&]+ (\w+)\()");
  int found = 0;
  for (std::sregex_iterator at(headers.begin(), headers.end(), declaration), end; at != end; ++at) {
    const std::string name = (*at)[1].matched ? (*at)[1].str() : (*at)[2].str();
    if (name == "Ref") continue;  // of the inside
    EXPECT_TRUE(is_public_name(name)) << name;
    ++found;
  }
  EXPECT_GT(found, 60);
  for (const char* inside : {"detail", "Port", "Access", "submission", "cases", "train_main", "submission_main"}) {
    EXPECT_FALSE(is_public_name(inside)) << inside;
  }
}

/// Names that a program prints, one in each line.
std::vector<std::string> words_of(const std::string& program, const std::vector<std::string>& arguments) {
  run::ProcessOptions options;
  options.program = program;
  options.arguments = arguments;
  options.environment = run::clean_environment("/");
  options.kept_output = 16 << 20;
  std::istringstream output(run::run_process(options).output);
  std::vector<std::string> words;
  for (std::string word; output >> word;) words.push_back(word);
  return words;
}

TEST(AllowedSymbols, HaveNothingElseOfWhatTheLibraryExports) {
  const Toolchain toolchain = load_toolchain(SHARDLINGS_TEST_BUILD);
  int allowed = 0;
  for (const std::string& symbol :
       words_of("/usr/bin/env", {"nm", "-D", "--defined-only", "--format=just-symbols", toolchain.library})) {
    const std::string name = demangled(symbol);
    const bool inside = name.find("shardlings::submission::") != std::string::npos ||
                        name.find("shardlings::boundary::") != std::string::npos ||
                        name.find("shardlings::cases::") != std::string::npos ||
                        name.find("shardlings::detail::") != std::string::npos ||
                        name.find("shardlings::grading::") != std::string::npos ||
                        name.find("shardlings::front::") != std::string::npos ||
                        name.find("shardlings::back::") != std::string::npos ||
                        name.find("shardlings::train::") != std::string::npos;
    const bool ours = read_mangled(symbol).parts.size() > 1 && read_mangled(symbol).parts[0] == "shardlings";
    if (!ours) continue;
    EXPECT_EQ(is_allowed(symbol), !inside) << name;
    allowed += is_allowed(symbol) ? 1 : 0;
  }
  EXPECT_GT(allowed, 100);
}

}  // namespace
}  // namespace shardlings::grading::build
