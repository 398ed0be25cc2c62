# Libraries from the distribution. Required ones stop the configuration with the package's name.

find_package(Threads REQUIRED)

macro(shardlings_require name package)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "Missing ${name}. On Debian or Ubuntu: apt-get install ${package} (or just run ./shardlings)")
  endif()
endmacro()

find_package(fmt QUIET)
shardlings_require(fmt libfmt-dev)
find_package(nlohmann_json QUIET)
shardlings_require(nlohmann_json nlohmann-json3-dev)
find_package(tomlplusplus QUIET)
shardlings_require(tomlplusplus libtomlplusplus-dev)
find_package(CLI11 QUIET)
shardlings_require(CLI11 libcli11-dev)
find_package(ZLIB QUIET)
shardlings_require(ZLIB zlib1g-dev)
find_package(GTest QUIET)
shardlings_require(GTest libgtest-dev)

# OpenBLAS is loaded when the first matrix product runs (see back/kernels/cpu/blas.cpp), so only its name is needed.
find_library(SHARDLINGS_OPENBLAS NAMES openblas)
if(NOT SHARDLINGS_OPENBLAS)
  message(FATAL_ERROR "Missing OpenBLAS. On Debian or Ubuntu: apt-get install libopenblas-dev (or just run ./shardlings)")
endif()

if(SHARDLINGS_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
