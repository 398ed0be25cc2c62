# Every folder of puzzles/ with a puzzle.toml is a puzzle; nothing is registered elsewhere. For each of them: its harness
# as an object, its grader as a program, its checks as tests of ctest. How to compile and link a learner's puzzle.cpp is
# written to toolchain.json, so that no build system runs between saving the file and reading the verdict.

set(SHARDLINGS_INCLUDE ${CMAKE_SOURCE_DIR}/runtime/include)
# _GLIBCXX_ASSERTIONS: an index outside of its std::vector stops the program instead of reading somewhere else.
set(SHARDLINGS_SUBMISSION_FLAGS -std=c++20 -O1 -g1 -fPIE -D_GLIBCXX_ASSERTIONS -Wall -Wno-unused-but-set-variable -Werror=return-type)
set(SHARDLINGS_LINK_FLAGS "")
if(SHARDLINGS_SANITIZE)
  list(APPEND SHARDLINGS_SUBMISSION_FLAGS -fsanitize=${SHARDLINGS_SANITIZE} -fno-omit-frame-pointer)
  list(APPEND SHARDLINGS_LINK_FLAGS -fsanitize=${SHARDLINGS_SANITIZE})
endif()
if(SHARDLINGS_LINKER)
  list(APPEND SHARDLINGS_LINK_FLAGS -fuse-ld=${SHARDLINGS_LINKER})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND SHARDLINGS_LINK_FLAGS -fno-use-linker-plugin)  # for LTO, which is not used: a quarter of the linker's time
endif()

add_library(shardlings_submission OBJECT ${CMAKE_SOURCE_DIR}/runtime/submission/submission_main.cpp)
target_link_libraries(shardlings_submission PRIVATE shardlings_options)

# What every puzzle needs: if this does not build, nothing runs. `learner` adds harnesses and graders, each of which may
# fail alone.
add_custom_target(command)
add_dependencies(command shardlings shardlings_submission shardlings_jail shardlings_gpus)
if(TARGET shardlings_command)
  add_dependencies(command shardlings_command shardlings_whole)
endif()
add_custom_target(puzzles ALL)
add_dependencies(puzzles command)

# The public header as puzzles see it. With g++ it is compiled once, which saves a third of the time to compile a puzzle;
# clang has another way.
set(SHARDLINGS_PUBLIC ${CMAKE_BINARY_DIR}/pch)
set(SHARDLINGS_SUBMISSION_INCLUDES ${SHARDLINGS_PUBLIC} ${SHARDLINGS_INCLUDE})
set(header ${SHARDLINGS_PUBLIC}/shardlings/puzzle.h)
file(WRITE ${header}.new "#include \"${SHARDLINGS_INCLUDE}/shardlings/puzzle.h\"\n#include <algorithm>\n#include <utility>\n#include <vector>\n")
configure_file(${header}.new ${header} COPYONLY)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  file(GLOB public_headers CONFIGURE_DEPENDS ${SHARDLINGS_INCLUDE}/shardlings/*.h)
  add_custom_command(OUTPUT ${header}.gch DEPENDS ${header} ${public_headers}
    COMMAND ${CMAKE_CXX_COMPILER} ${SHARDLINGS_SUBMISSION_FLAGS} -I${SHARDLINGS_INCLUDE} -x c++-header ${header} -o ${header}.gch
    COMMENT "Precompiling shardlings/puzzle.h" VERBATIM)
  add_custom_target(shardlings_precompiled DEPENDS ${header}.gch)
  add_dependencies(command shardlings_precompiled)
endif()

# What a puzzle's headers read: the compiler's own list for the runtime's public headers and those of the standard library
# that are for puzzles. A submission that has read anything else is refused.
set(SHARDLINGS_ALLOWED_HEADERS ${CMAKE_BINARY_DIR}/allowed_headers.d)
set(header_names ${CMAKE_SOURCE_DIR}/runtime/grading/build/standard_headers.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header_names})
file(STRINGS ${header_names} allowed_headers REGEX "^STANDARD_HEADER\\(")
list(TRANSFORM allowed_headers REPLACE "^STANDARD_HEADER\\((.*)\\)$" "#include <\\1>")
list(JOIN allowed_headers "\n" allowed_headers)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/allowed_headers.cpp @ONLY CONTENT "#include <shardlings/puzzle.h>\n${allowed_headers}\n")
add_custom_command(OUTPUT ${SHARDLINGS_ALLOWED_HEADERS} DEPENDS ${CMAKE_BINARY_DIR}/allowed_headers.cpp
  COMMAND ${CMAKE_CXX_COMPILER} ${SHARDLINGS_SUBMISSION_FLAGS} -I${SHARDLINGS_INCLUDE} -M -MT allowed
    ${CMAKE_BINARY_DIR}/allowed_headers.cpp -MF ${SHARDLINGS_ALLOWED_HEADERS}
  COMMENT "Listing the headers that puzzles may read" VERBATIM)
add_custom_target(shardlings_allowed_headers DEPENDS ${SHARDLINGS_ALLOWED_HEADERS})
add_dependencies(command shardlings_allowed_headers)

# What every run of a submission needs beside its puzzle's own parts.
set(needed_by_runs shardlings shardlings_submission shardlings_allowed_headers)
if(TARGET shardlings_precompiled)
  list(APPEND needed_by_runs shardlings_precompiled)
endif()

# g++ would start this assembler, too; without it in between it is sooner done.
set(SHARDLINGS_ASSEMBLER_COMMAND "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-prog-name=as OUTPUT_VARIABLE assembler OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_program(SHARDLINGS_ASSEMBLER ${assembler})
  if(SHARDLINGS_ASSEMBLER)
    set(SHARDLINGS_ASSEMBLER_COMMAND ${SHARDLINGS_ASSEMBLER} --64)
  endif()
endif()

# What compiler and linker read of the system, so that they can be kept from everything else: programs, their libraries,
# headers. What does not exist here is left out when a submission is built.
set(SHARDLINGS_SYSTEM_FOLDERS /bin /usr/bin /lib /lib32 /lib64 /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /etc/ld.so.cache
  /etc/ld.so.preload ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES} ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
foreach(tool ${CMAKE_CXX_COMPILER} ${SHARDLINGS_LINKER_mold} ${SHARDLINGS_LINKER_lld} ${SHARDLINGS_LINKER_gold})
  if(tool)
    file(REAL_PATH ${tool} tool)
    get_filename_component(programs ${tool} DIRECTORY)
    get_filename_component(prefix ${programs} DIRECTORY)
    list(APPEND SHARDLINGS_SYSTEM_FOLDERS ${programs} ${prefix}/lib ${prefix}/lib64 ${prefix}/libexec)
  endif()
endforeach()
list(REMOVE_DUPLICATES SHARDLINGS_SYSTEM_FOLDERS)

# For editors. clangd finds build/compile_commands.json by itself; these entries say how a learner's file is compiled, and
# without them it would guess from a grader's. Nobody builds the target.
file(GLOB submissions CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/puzzles/*/puzzle.cpp ${CMAKE_SOURCE_DIR}/solutions/*/solution.cpp)
if(submissions)
  add_library(shardlings_for_editors OBJECT EXCLUDE_FROM_ALL ${submissions})
  target_compile_options(shardlings_for_editors PRIVATE ${SHARDLINGS_SUBMISSION_FLAGS})
  target_include_directories(shardlings_for_editors PRIVATE ${SHARDLINGS_SUBMISSION_INCLUDES})
  set_target_properties(shardlings_for_editors PROPERTIES POSITION_INDEPENDENT_CODE OFF CXX_COMPILER_LAUNCHER "")
endif()

# shardlings_json_list(OUT ITEM...): a JSON list of texts.
function(shardlings_json_list out)
  set(text "")
  foreach(item ${ARGN})
    string(APPEND text "\"${item}\", ")
  endforeach()
  string(REGEX REPLACE ", $" "" text "${text}")
  set(${out} "[${text}]" PARENT_SCOPE)
endfunction()

# shardlings_check_tests(FOLDER ID): a test for each `id` of a [[checks]] section.
function(shardlings_check_tests folder id)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/puzzle.toml)
  file(STRINGS ${folder}/puzzle.toml lines REGEX "^(\\[|id *=)")
  set(in_checks FALSE)
  foreach(line ${lines})
    if(line MATCHES "^id *= *\"([A-Za-z0-9_]+)\"")
      if(in_checks AND NOT TEST puzzle.${id}.${CMAKE_MATCH_1})  # two of a name are the manifest's mistake, named by it
        add_test(NAME puzzle.${id}.${CMAKE_MATCH_1} COMMAND shardlings_command check ${id} ${CMAKE_MATCH_1})
        set_tests_properties(puzzle.${id}.${CMAKE_MATCH_1} PROPERTIES LABELS puzzle WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
      endif()
    else()
      string(FIND "${line}" "[[checks]]" position)
      if(position EQUAL 0)
        set(in_checks TRUE)
      else()
        set(in_checks FALSE)
      endif()
    endif()
  endforeach()
endfunction()

# Of what a harness has for itself, little is left where only the learner's function is called. clang lets the last word
# on a warning win, so these come behind -Wall.
add_library(shardlings_beside_options INTERFACE)
target_compile_options(shardlings_beside_options INTERFACE -Wno-unused-function
  $<$<CXX_COMPILER_ID:Clang>:-Wno-unneeded-internal-declaration>)

# shardlings_add_puzzle(FOLDER OUT): harness, broker and grader of a puzzle, and its entry for toolchain.json. The harness
# is compiled twice (boundary/learner_function.h): as such, and as what stands beside the learner's code.
function(shardlings_add_puzzle folder out)
  get_filename_component(id ${folder} NAME)
  add_library(harness_${id} OBJECT ${folder}/harness.cpp)
  add_library(beside_${id} OBJECT ${folder}/harness.cpp)
  target_compile_definitions(beside_${id} PRIVATE SHARDLINGS_BESIDE_LEARNER)
  add_executable(broker_${id} $<TARGET_OBJECTS:harness_${id}> $<TARGET_OBJECTS:shardlings_submission>)
  target_link_libraries(broker_${id} PRIVATE shardlings_options shardlings)
  set_target_properties(broker_${id} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/brokers
    LINKER_LANGUAGE CXX BUILD_RPATH "$ORIGIN/../lib")
  target_link_libraries(harness_${id} PRIVATE shardlings_options shardlings_cold)
  target_link_libraries(beside_${id} PRIVATE shardlings_options shardlings_beside_options shardlings_cold)
  foreach(part harness beside)
    target_precompile_headers(${part}_${id} REUSE_FROM shardlings_harness_headers)
  endforeach()
  file(GLOB questions CONFIGURE_DEPENDS ${folder}/questions.cpp)  # where grader.cpp would be too long with them
  add_executable(grader_${id} ${folder}/grader.cpp ${questions})
  target_link_libraries(grader_${id} PRIVATE shardlings_grader shardlings_cold)
  target_precompile_headers(grader_${id} REUSE_FROM shardlings_grader_headers)
  set_target_properties(grader_${id} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/graders
    BUILD_RPATH "$ORIGIN/../lib")  # where a package has libraries (tests/gpu/package)
  # Is there when all is that a run needs: the first start does not wait for any puzzle (target `first`).
  set(built ${CMAKE_BINARY_DIR}/puzzles/${id}.built)
  add_custom_command(OUTPUT ${built} DEPENDS harness_${id} beside_${id} broker_${id} grader_${id} ${needed_by_runs}
    COMMAND ${CMAKE_COMMAND} -E touch ${built} VERBATIM)
  add_custom_target(puzzle_${id} DEPENDS ${built})
  set(${out} "    \"${id}\": {\"harness\": \"$<TARGET_OBJECTS:harness_${id}>\", \"beside\": \"$<TARGET_OBJECTS:beside_${id}>\", \"broker\": \"$<TARGET_FILE:broker_${id}>\", \"grader\": \"$<TARGET_FILE:grader_${id}>\"},\n" PARENT_SCOPE)
endfunction()

# shardlings_write_toolchain(FILE ENTRIES): how to build submissions of these puzzles.
function(shardlings_write_toolchain file entries)
  string(REGEX REPLACE ",\n$" "\n" entries "${entries}")
  shardlings_json_list(compile_flags ${SHARDLINGS_SUBMISSION_FLAGS})
  shardlings_json_list(include_folders ${SHARDLINGS_SUBMISSION_INCLUDES})
  shardlings_json_list(assembler ${SHARDLINGS_ASSEMBLER_COMMAND})
  shardlings_json_list(system_folders ${SHARDLINGS_SYSTEM_FOLDERS})
  get_target_property(jail_options shardlings_jail INTERFACE_LINK_OPTIONS)
  shardlings_json_list(link_flags -pie ${SHARDLINGS_LINK_FLAGS})
  shardlings_json_list(jail_link_flags ${jail_options} ${SHARDLINGS_LINK_FLAGS})
  set(jail_libraries $<TARGET_FILE:shardlings_jail>)
  if(NOT SHARDLINGS_STATIC_PIE)
    list(APPEND jail_libraries $<TARGET_FILE:fmt::fmt>)
  endif()
  shardlings_json_list(jail_libraries ${jail_libraries})
  file(GENERATE OUTPUT ${file} CONTENT "{
  \"compiler\": \"${CMAKE_CXX_COMPILER}\",
  \"compile_flags\": ${compile_flags},
  \"include_folders\": ${include_folders},
  \"assembler\": ${assembler},
  \"allowed_headers\": \"${SHARDLINGS_ALLOWED_HEADERS}\",
  \"system_folders\": ${system_folders},
  \"link_flags\": ${link_flags},
  \"library\": \"$<TARGET_FILE:shardlings>\",
  \"main_object\": \"$<TARGET_OBJECTS:shardlings_submission>\",
  \"jail_link_flags\": ${jail_link_flags},
  \"jail_libraries\": ${jail_libraries},
  \"train_objects\": {
    \"grid\": \"$<TARGET_OBJECTS:shardlings_train_grid>\",
    \"device\": \"$<TARGET_OBJECTS:shardlings_train_replicas>\",
    \"replicas\": \"$<TARGET_OBJECTS:shardlings_train_replicas>\",
    \"clipping\": \"$<TARGET_OBJECTS:shardlings_train_clipping>\"
  },
  \"root\": \"${CMAKE_SOURCE_DIR}\",
  \"clusters\": \"${CMAKE_SOURCE_DIR}/runtime/front/clock/clusters\",
  \"gpu_probe\": \"$<TARGET_FILE:shardlings_gpus>\",
  \"portable_command\": \"$<TARGET_FILE:shardlings_portable>\",
  \"puzzles\": {
${entries}  }
}
")
endfunction()

# What harness.h brings along; it is itself not the same in both of the ways in which a harness is compiled.
shardlings_library_headers(shardlings_harness_headers
  HEADERS <deque> <map> <memory> <optional> <set> <string> <tuple> <vector> ${CMAKE_SOURCE_DIR}/runtime/boundary/archive.h
    ${CMAKE_SOURCE_DIR}/runtime/case/case.h)

set(puzzle_entries "")
set(puzzle_targets "")
file(GLOB manifests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/puzzles/*/puzzle.toml)
foreach(manifest ${manifests})
  get_filename_component(folder ${manifest} DIRECTORY)
  get_filename_component(id ${folder} NAME)
  # The command says so, too, where a learner sees it (cli's course).
  if(NOT EXISTS ${folder}/harness.cpp OR NOT EXISTS ${folder}/grader.cpp)
    message(WARNING "puzzles/${id} has no harness.cpp or no grader.cpp yet: it is left out")
    continue()
  endif()
  if(NOT id MATCHES "^[A-Za-z0-9_]+$")
    message(WARNING "puzzles/${id} is left out: a name has letters, digits and _ only")
    continue()
  endif()
  shardlings_add_puzzle(${folder} entry)
  string(APPEND puzzle_entries "${entry}")
  add_dependencies(puzzles puzzle_${id})
  list(APPEND puzzle_targets puzzle_${id})
  shardlings_check_tests(${folder} ${id})
endforeach()

# Puzzles outside of the repository (./shardlings --collection FOLDER): built when they are asked for, and never needed.
set(SHARDLINGS_COLLECTIONS "" CACHE STRING "Folders with puzzles/ of their own")
add_custom_target(collections)
foreach(collection ${SHARDLINGS_COLLECTIONS})
  file(GLOB manifests CONFIGURE_DEPENDS ${collection}/puzzles/*/puzzle.toml)
  foreach(manifest ${manifests})
    get_filename_component(folder ${manifest} DIRECTORY)
    get_filename_component(id ${folder} NAME)
    if(NOT EXISTS ${folder}/harness.cpp OR NOT EXISTS ${folder}/grader.cpp OR NOT id MATCHES "^[A-Za-z0-9_]+$" OR TARGET grader_${id})
      message(WARNING "${folder} is left out: it is not whole, or there is another puzzle of its name")
      continue()
    endif()
    shardlings_add_puzzle(${folder} entry)
    string(APPEND puzzle_entries "${entry}")
    add_dependencies(collections puzzle_${id})
    set_target_properties(harness_${id} beside_${id} broker_${id} grader_${id} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endforeach()
endforeach()
shardlings_write_toolchain(${CMAKE_BINARY_DIR}/toolchain.json "${puzzle_entries}")
if(TARGET learner)
  add_dependencies(learner puzzles shardlings_train_grid shardlings_train_replicas shardlings_train_clipping)
  if(TARGET shardlings_train)
    add_dependencies(learner shardlings_train)
  endif()
endif()

# What a learner sees at the very first start: the command shows the first lesson. While that is read the start script
# builds the rest, and first of it what runs the first puzzle.
add_custom_target(first)
if(TARGET shardlings_command)
  add_dependencies(first shardlings_command)
endif()
add_custom_target(first_puzzle)
list(SORT puzzle_targets)
list(POP_FRONT puzzle_targets first_of_all)
if(first_of_all)
  add_dependencies(first_puzzle ${first_of_all})
endif()
