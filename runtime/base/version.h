#pragma once

namespace shardlings {

/// The version of this project, as CMakeLists.txt says it: `"1.2.0"`.
const char* version();

}  // namespace shardlings
