/// \file
/// The files of assets/, built into the command.
#pragma once

#include <string_view>
#include <vector>

namespace shardlings::report {

struct ViewAsset {
  std::string_view name;  ///< "timeline.js"
  std::string_view text;
};

/// Styles and scripts in the order in which the page holds them, and the licence of what is not ours.
const std::vector<ViewAsset>& view_assets();
/// page.html, with blanks: {{title}}, {{styles}}, {{data}}, {{scripts}}, {{licence}}.
std::string_view view_template();

}  // namespace shardlings::report
