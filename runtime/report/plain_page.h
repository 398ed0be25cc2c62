/// \file
/// The frame of pages that show tables: light and dark, with nothing to be fetched and nothing that runs.
#pragma once

#include <string>

namespace shardlings::report {

/// The HTML of a page. `title` and `subtitle` are text, `style` is CSS beside the frame's own, `body` is HTML.
std::string plain_page(const std::string& title, const std::string& subtitle, const std::string& style,
                       const std::string& body);

}  // namespace shardlings::report
