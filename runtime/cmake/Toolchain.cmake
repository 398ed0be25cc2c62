# How everything here is compiled: warnings, sanitizers, a fast linker where there is one.

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
# Learners do not read warnings about the project's own code, and looking for them takes the compiler time.
target_compile_options(shardlings_options INTERFACE -fvisibility=hidden
  "$<IF:$<BOOL:${SHARDLINGS_WERROR}>,-Wall;-Wextra;-Wconversion;-Werror,-w>"
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>  # clang counts it to -Wconversion; g++ does not
  # g++ collects its garbage from 128 MB on, and then often: a tenth of its time.
  "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=400000 --param ggc-min-expand=1000>"
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)  # who may touch what a mutex guards: base/mutex.h
target_include_directories(shardlings_options INTERFACE ${CMAKE_SOURCE_DIR}/runtime ${CMAKE_SOURCE_DIR}/runtime/include)

# Where nothing is hot, optimising the templates that the files instantiate is most of the compiler's time: -Og takes a
# quarter less of it than -O1, and half of what -O2 takes. g++ then takes members of std::regex for uninitialised.
add_library(shardlings_cold INTERFACE)
target_compile_options(shardlings_cold INTERFACE -Og $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

# shardlings_batched(TARGETS...): the files of one folder are compiled together, so that the compiler's work on headers and
# templates is done once for them, which saves a third of the time. An anonymous namespace is then the folder's: what a
# file keeps to itself needs a name that no other file of its folder has. Files with options of their own stay alone.
# Tools that want each file alone: -DSHARDLINGS_BATCHES=OFF
function(shardlings_batched)
  if(NOT SHARDLINGS_BATCHES)
    return()
  endif()
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE path)
      cmake_path(GET path PARENT_PATH room)
      cmake_path(RELATIVE_PATH room BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER "${room}" room)
      set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${room})
    endforeach()
  endforeach()
endfunction()

set(SHARDLINGS_PRECOMPILED_OPTIONS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlapping and overlong copies in std::string (GCC bug 105651); inside a precompiled header that no
  # longer counts as a system header's own affair.
  set(SHARDLINGS_PRECOMPILED_OPTIONS -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# shardlings_library_headers(NAME LIBRARIES... HEADERS...): headers that the files of libraries read once, by
# target_precompile_headers(... REUSE_FROM NAME). A precompiled header knows what it was made of by times of change, so
# one out of a compiler cache would not be recognised: it has no launcher.
function(shardlings_library_headers name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;HEADERS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "// Carries precompiled headers.\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE shardlings_options ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
endfunction()
