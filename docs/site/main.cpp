// Makes the web site: shardlings_make_site REPOSITORY FOLDER TAGS. The folder has Doxygen's pages in `api` already,
// which TAGS, its tag file, tells about.
#include <cstdio>
#include <exception>

#include "base/file.h"
#include "site/site.h"

int main(int count, char** words) {
  if (count != 4) {
    std::fputs("Usage: shardlings_make_site REPOSITORY FOLDER TAGS\n", stderr);
    return 2;
  }
  try {
    using namespace shardlings;
    const site::Repository repository(words[1], site::ApiPages(read_whole_file(words[3]), words[1], "api"));
    site::write_site(repository, words[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
