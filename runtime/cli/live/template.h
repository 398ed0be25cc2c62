/// \file
/// The page of `watch --page` as it stands before anything is known.
#pragma once

#include <string_view>

namespace shardlings::cli::live {

/// live.html
std::string_view live_template();

}  // namespace shardlings::cli::live
