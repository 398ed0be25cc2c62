/// \file
/// The version of this project.
#pragma once

namespace shardlings {

/// As CMakeLists.txt says it: "1.2.0".
const char* version();

}  // namespace shardlings
