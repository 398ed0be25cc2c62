#include "grading/build/refused_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace shardlings::grading::build {
namespace {

using std::string_view;

struct RefusedHeader {
  string_view name;
  const char* instead;
};

constexpr const char* kNoThreads = "Ranks are the only threads, and meet through a Group: leave it out.";
constexpr const char* kNoClock = "Time is virtual, and the report shows where it went: leave it out.";
constexpr const char* kNoFiles = "There are no files here: print with printf or std::cout, and the report shows it.";
constexpr const char* kNoChance =
    "Every run is to give the same numbers: random_normal() makes some on the device, from a seed.";
constexpr const char* kPrintInstead = "Print with printf of <cstdio>, or with std::cout of <iostream>.";

constexpr RefusedHeader kRefusedHeaders[] = {
    {"thread", kNoThreads},
    {"mutex", kNoThreads},
    {"shared_mutex", kNoThreads},
    {"atomic", kNoThreads},
    {"future", kNoThreads},
    {"condition_variable", kNoThreads},
    {"semaphore", kNoThreads},
    {"barrier", kNoThreads},
    {"latch", kNoThreads},
    {"pthread.h", kNoThreads},
    {"chrono", kNoClock},
    {"ctime", kNoClock},
    {"time.h", kNoClock},
    {"sys/time.h", kNoClock},
    {"fstream", kNoFiles},
    {"filesystem", kNoFiles},
    {"unistd.h", kNoFiles},
    {"fcntl.h", kNoFiles},
    {"random", kNoChance},
    {"format", kPrintInstead},
    {"print", kPrintInstead},
    {"bits/stdc++.h", "Name the headers that you use, <vector> for example."},
    {"stdlib.h", "Write <cstdlib>."},
    {"ctype.h", "Write <cctype>."},
    {"inttypes.h", "Write <cinttypes>."},
    {"source_location", "__FILE__ and __LINE__ name a place in it."},
};

}  // namespace

std::string instead_of_header(string_view name, bool quoted) {
  const auto* const found = std::find_if(std::begin(kRefusedHeaders), std::end(kRefusedHeaders),
                                         [&](const RefusedHeader& refused) { return refused.name == name; });
  if (found != std::end(kRefusedHeaders)) return found->instead;
  return quoted ? "A puzzle is one file: write into it what it needs." : "Leave it out.";
}

}  // namespace shardlings::grading::build
