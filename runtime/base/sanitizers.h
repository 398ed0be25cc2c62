/// \file
/// Which sanitizer this is compiled for, if any. GCC says it by a macro, clang by a feature.
#pragma once

#if defined(__has_feature)
#define SHARDLINGS_HAS_FEATURE(name) __has_feature(name)
#else
#define SHARDLINGS_HAS_FEATURE(name) 0
#endif

// For the preprocessor: their headers are there only where they are.
#if defined(__SANITIZE_ADDRESS__) || SHARDLINGS_HAS_FEATURE(address_sanitizer)
#define SHARDLINGS_ADDRESS_SANITIZER 1
#else
#define SHARDLINGS_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__) || SHARDLINGS_HAS_FEATURE(thread_sanitizer)
#define SHARDLINGS_THREAD_SANITIZER 1
#else
#define SHARDLINGS_THREAD_SANITIZER 0
#endif
#undef SHARDLINGS_HAS_FEATURE

namespace shardlings {

inline constexpr bool kAddressSanitizer = SHARDLINGS_ADDRESS_SANITIZER == 1;
inline constexpr bool kThreadSanitizer = SHARDLINGS_THREAD_SANITIZER == 1;

}  // namespace shardlings
