/// \file
/// All pages of the site, and their files.
#pragma once

#include <string>
#include <vector>

#include "site/page.h"
#include "site/repository.h"

namespace shardlings::site {

/// Every page, without what stands around it. Throws std::runtime_error, which names the file and the line at fault.
std::vector<Page> pages_of(const Repository& repository);

/// Writes pages, pictures, styles, scripts and the index of search into a folder, which need not exist. Throws
/// std::runtime_error for what cannot be read or written, and for links that lead nowhere.
void write_site(const Repository& repository, const std::string& folder);

}  // namespace shardlings::site
