/// \file
/// A page of the site, before navigation is put around it.
#pragma once

#include <string>
#include <vector>

#include "site/markdown.h"

namespace shardlings::site {

struct Page {
  std::string address;  ///< from the site's folder: "puzzles/09_data_parallel.html"
  std::string title;
  std::string kind;  ///< what a reader is told above the title: "Chapter 3", "Guide"; may be empty
  std::string body;  ///< HTML of the element `main`, its heading of the first level included
  std::vector<Section> sections;
  std::vector<Section> folded;  ///< those that a reader opens on purpose: search names them and quotes nothing of them
};

/// The address `to` as seen from the page `from`; both from the site's folder.
std::string address_from(const std::string& from, const std::string& to);

}  // namespace shardlings::site
