/// \file
/// The index that search on the site reads: words of all sections, as MiniSearch writes an index to a file.
#pragma once

#include <string>
#include <vector>

#include "site/api_pages.h"
#include "site/page.h"

namespace shardlings::site {

/// Words as search compares them: letters and digits in lower case, everything else divides. assets/search.js does the
/// same to what a reader types.
std::vector<std::string> words_of(const std::string& text);

/// A script that sets `searchIndex`. Every section of every page is found by its words; of a section that a reader has
/// to open, the heading is shown and no text.
std::string search_script(const std::vector<Page>& pages, const std::vector<ApiName>& names);

}  // namespace shardlings::site
