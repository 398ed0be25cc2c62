// Every header includes what it needs of the project. The build cannot tell: it compiles several files at once.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "architecture/tree.h"

namespace shardlings::architecture {
namespace {

namespace fs = std::filesystem;

bool is_own(const Include& include) {
  return include.quoted || starts_with(include.name, "shardlings/");
}

/// Headers that cannot be read without those of CUDA, which may be missing: by what they include, and so on.
std::set<std::string> headers_of_vendors(const std::vector<Source>& headers) {
  std::set<std::string> found;
  std::size_t before;
  do {
    before = found.size();
    for (const Source& header : headers) {
      for (const Include& include : includes_of(header.text)) {
        const bool vendor = !include.quoted && starts_with(include.name, "cu");
        if (vendor || found.count("runtime/" + include.name) > 0) found.insert(header.path);
      }
    }
  } while (found.size() > before);
  return found;
}

/// What one header includes first stands alone if that header does: nothing of the project comes before it.
std::set<std::string> included_first(const std::vector<Source>& headers) {
  std::set<std::string> found;
  for (const Source& header : headers) {
    const std::vector<Include> includes = includes_of(header.text);
    const auto own = std::find_if(includes.begin(), includes.end(), is_own);
    if (own != includes.end()) found.insert("runtime/" + std::string(own->quoted ? "" : "include/") + own->name);
  }
  return found;
}

/// The headers of the standard library that the project's own include, and fmt's, compiled once: reading them is most
/// of the time. Those of other libraries are larger, and few read them: with them each header would take three times as
/// long.
class StandardHeaders {
 public:
  explicit StandardHeaders(const std::vector<Source>& readers)
      : folder_(fs::temp_directory_path() / ("shardlings_headers_" + std::to_string(getpid()))) {
    std::set<std::string> names;
    for (const Source& reader : readers) {
      for (const Include& include : includes_of(reader.text)) {
        const bool is_common = include.name.find('.') == std::string::npos || include.name == "fmt/format.h";
        if (!is_own(include) && is_common) names.insert(include.name);
      }
    }
    fs::create_directories(folder_);
    std::ofstream file(path());
    for (const std::string& name : names)
      file << "#if __has_include(<" << name << ">)\n#include <" << name << ">\n#endif\n";
    file.close();
    run_ = compile("-x c++-header '" + path() + "' -o '" + path() + ".gch'");
  }
  StandardHeaders(const StandardHeaders&) = delete;
  StandardHeaders& operator=(const StandardHeaders&) = delete;
  ~StandardHeaders() { fs::remove_all(folder_); }

  std::string path() const { return folder_ / "standard.h"; }
  const ProgramRun& run() const { return run_; }

 private:
  fs::path folder_;
  ProgramRun run_;
};

/// A share of the headers: each is compiled by itself, which takes minutes for all of them.
class HeadersOfShare : public testing::TestWithParam<std::size_t> {
 protected:
  static constexpr std::size_t kShares = 4;
};

TEST_P(HeadersOfShare, IncludeWhatTheyNeedOfTheProject) {
  std::vector<Source> headers = sources("runtime", {".h"});
  const std::set<std::string> of_vendors = headers_of_vendors(headers);
  std::erase_if(headers, [&](const Source& header) { return of_vendors.count(header.path) > 0; });
  ASSERT_GT(headers.size(), 100U);
  const StandardHeaders standard(headers);
  ASSERT_EQ(standard.run().status, 0) << standard.run().output;
  const std::set<std::string> proved_by_others = included_first(headers);
  std::vector<Violation> violations;
  std::size_t number = 0;
  for (const Source& header : headers) {
    if (proved_by_others.count(header.path) > 0 || number++ % kShares != GetParam()) continue;
    const std::string own = project_folder() + "/" + header.path;
    std::string arguments = "-fsyntax-only -x c++";
    for (const std::string& name : {standard.path(), own, own})
      arguments.append(" -include '").append(name).append("'");
    const ProgramRun run = compile(arguments.append(" /dev/null"));
    if (run.status != 0) violations.push_back({header.path, 1, "does not compile alone:\n" + run.output});
  }
  EXPECT_GT(number, kShares);
  EXPECT_TRUE(violations.empty()) << to_text(violations);
}

INSTANTIATE_TEST_SUITE_P(All, HeadersOfShare, testing::Range<std::size_t>(0, 4));

}  // namespace
}  // namespace shardlings::architecture
