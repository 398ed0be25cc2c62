// Links that lead nowhere are found, and no others.
#include "site/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace shardlings::site {
namespace {

namespace fs = std::filesystem;

class Links : public testing::Test {
 protected:
  Links() { fs::create_directories(folder_ / "api"); }
  ~Links() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::vector<std::string> dead() const { return dead_links(folder_.string()); }

 private:
  fs::path folder_ = fs::path(testing::TempDir()) / ("shardlings_links_" + std::to_string(getpid()));
};

TEST_F(Links, ThatLeadSomewhereAreNotNamed) {
  write("a.html", R"(<a href="b/c.html#here">x</a> <a href="https://example.org/none">y</a> <a href="#top">z</a>
<p id="top"></p><img src="b/d.svg"><form action="search.html?q=1"></form><a href="api/x.html#f">api</a>)");
  write("b/c.html", R"(<h2 id="here"></h2><a href="../a.html">back</a><a href="c.html?q=1">same</a>)");
  write("b/d.svg", "<svg/>");
  write("api/x.html", R"(<a id="f" name="f"></a><a href="not_mine.html">Doxygen's</a>)");
  EXPECT_THAT(dead(), testing::IsEmpty());
}

TEST_F(Links, ThatLeadNowhereAreNamed) {
  write("a.html",
        R"(<a href="b/c.html#there">x</a> <a href="d.html">y</a> <a href="#bottom">z</a> <a href="api/y.html">)");
  write("b/c.html", R"(<h2 id="here"></h2><img src="d.svg">)");
  EXPECT_THAT(dead(), testing::ElementsAre(
                          "a.html: the link to #bottom leads nowhere", "a.html: the link to api/y.html leads nowhere",
                          "a.html: the link to b/c.html#there leads nowhere",
                          "a.html: the link to d.html leads nowhere", "b/c.html: the link to d.svg leads nowhere"));
}

}  // namespace
}  // namespace shardlings::site
