/// \file
/// Links between the pages that were written.
#pragma once

#include <string>
#include <vector>

namespace shardlings::site {

/// Every link of the site's own pages that leads nowhere, as "puzzles/x.html: the link to y.html#z leads nowhere".
/// Pages of Doxygen, in the folder `api`, are only looked up: their links are Doxygen's to check.
std::vector<std::string> dead_links(const std::string& folder);

}  // namespace shardlings::site
