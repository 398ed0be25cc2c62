# CUDA is used where it is found and never required. What needs it is a library of its own, `shardlings_cuda`, which the
# runtime loads when a GPU is asked for: nothing else is built differently. Sets SHARDLINGS_HAS_CUDA.

set(SHARDLINGS_CUDA AUTO CACHE STRING "Build the CUDA backend: AUTO (if the toolkit is found), ON, OFF")
set_property(CACHE SHARDLINGS_CUDA PROPERTY STRINGS AUTO ON OFF)
# One architecture takes a third of the time of three. 80 means code for compute capability 8.0 and an intermediate form
# that the driver translates for anything newer, once. For a package: 80-real;90-real;100-real;120.
set(SHARDLINGS_CUDA_ARCHITECTURES "" CACHE STRING
  "As CMAKE_CUDA_ARCHITECTURES. Empty: native where there is a GPU, else 80")

set(SHARDLINGS_HAS_CUDA OFF)
if(SHARDLINGS_CUDA STREQUAL "OFF" OR SHARDLINGS_SANITIZE)
  return()  # sanitizers know nothing of the driver's memory
endif()

find_program(SHARDLINGS_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(SHARDLINGS_NVCC)
  set(CMAKE_CUDA_COMPILER ${SHARDLINGS_NVCC} CACHE FILEPATH "CUDA compiler")
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER} CACHE FILEPATH "The host's compiler for CUDA")
  if(SHARDLINGS_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${SHARDLINGS_CUDA_ARCHITECTURES})
  elseif(EXISTS /dev/nvidia0 AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.24)
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 80)
  endif()
  find_package(CUDAToolkit 12.0 QUIET)
  include(CheckLanguage)
  check_language(CUDA)  # also that nvcc gets on with the host's compiler
endif()
if(CMAKE_CUDA_COMPILER AND CUDAToolkit_FOUND AND TARGET CUDA::cublas)
  enable_language(CUDA)
  # The standard is that of C++; older versions of CMake do not know nvcc's flag for it.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(SHARDLINGS_HAS_CUDA ON)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}: backend for architectures ${CMAKE_CUDA_ARCHITECTURES}")
elseif(SHARDLINGS_CUDA STREQUAL "ON")
  message(FATAL_ERROR "SHARDLINGS_CUDA=ON, but nvcc or cuBLAS of CUDA 12 or later is missing, or nvcc does not work with "
    "${CMAKE_CXX_COMPILER}. On Debian or Ubuntu with NVIDIA's repository: apt-get install cuda-toolkit")
endif()
