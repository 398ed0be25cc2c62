# How everything here is compiled: warnings, sanitizers, a fast linker and a compiler cache where there is one.

find_program(SHARDLINGS_CCACHE ccache)
if(SHARDLINGS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SHARDLINGS_CCACHE})
endif()

set(SHARDLINGS_LINKER "")
foreach(linker mold lld gold)
  find_program(SHARDLINGS_LINKER_${linker} NAMES ${linker} ld.${linker})
  if(SHARDLINGS_LINKER_${linker} AND NOT SHARDLINGS_LINKER)
    set(SHARDLINGS_LINKER ${linker})
  endif()
endforeach()
if(SHARDLINGS_LINKER)
  add_link_options(-fuse-ld=${SHARDLINGS_LINKER})
endif()

# RelWithDebInfo's -O2 -g makes large files; line tables are enough for a backtrace.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

if(SHARDLINGS_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")  # half the compiler's time, and frames that are where they were written
  add_compile_options(-fsanitize=${SHARDLINGS_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SHARDLINGS_SANITIZE})
endif()

add_library(shardlings_options INTERFACE)
target_compile_options(shardlings_options INTERFACE -Wall -Wextra -Wconversion -fvisibility=hidden
  $<$<BOOL:${SHARDLINGS_WERROR}>:-Werror>)
target_include_directories(shardlings_options INTERFACE ${CMAKE_SOURCE_DIR}/runtime ${CMAKE_SOURCE_DIR}/runtime/include)
