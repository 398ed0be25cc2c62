/// \file
/// What stands around every page: the head, navigation, the way to the page before and behind.
#pragma once

#include <string>
#include <vector>

#include "site/page.h"
#include "site/repository.h"

namespace shardlings::site {

/// A line of the navigation.
struct Entry {
  std::string address;  ///< from the site's folder
  std::string title;
};

/// Lines of the navigation below a heading.
struct EntryGroup {
  Entry heading;  ///< its address may be empty
  std::vector<Entry> entries;
};

class Layout {
 public:
  explicit Layout(const Repository& repository);

  /// The whole document.
  std::string document(const Page& page) const;
  const std::vector<EntryGroup>& groups() const { return groups_; }

 private:
  std::string navigation(const Page& page) const;
  std::string steps(const Page& page) const;

  std::string template_;
  std::vector<EntryGroup> groups_;
  std::vector<Entry> order_;  ///< the course from its beginning to its end
};

}  // namespace shardlings::site
