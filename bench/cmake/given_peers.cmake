# SPDX-License-Identifier: Apache-2.0
# Peers that no package registry has. The user names a folder for each, CREEK_PEER_LACE=DIR or
# `./bootstrap bench tasking --peer lace=DIR`: for Lace where it is installed, for the others, which are
# headers only, the checkout. If a peer cannot be built from its folder, its program says why.
include_guard(GLOBAL)

# _given_folder(folder lace "..."): the folder of a peer, empty if the user named none.
function(_given_folder out peer about)
  string(TOUPPER CREEK_PEER_${peer} variable)
  set(${variable} "" CACHE PATH "Benchmark peer ${peer}: ${about}; empty: left out")
  set(${out} "${${variable}}" PARENT_SCOPE)
  if(NOT ${variable})
    file(REMOVE ${BENCH_BIN}/bench_${peer})  # of an earlier configuration
  endif()
endfunction()

# Makes bench_<peer> a program that lists the reason why it cannot be measured.
function(_given_peer_missing peer why)
  message(STATUS "bench: no ${peer} peer (${why})")
  add_executable(bench_${peer} harness/missing_peer.cpp)
  target_compile_definitions(bench_${peer} PRIVATE BENCH_PEER_NAME="${peer}"
                                                   BENCH_PEER_MISSING="${why}")
  _bench_options(bench_${peer})
  _bench_finish(bench_${peer})
endfunction()

# _given_headers(why citor FOLDER citor/thread_pool.h): makes the target bench_headers_citor, or says why not: the
# header is not in FOLDER/include, or the compiler rejects it.
function(_given_headers out peer folder header)
  set(${out} "" PARENT_SCOPE)
  set(include ${folder}/include)
  if(EXISTS ${folder}/${header})
    set(include ${folder})
  elseif(NOT EXISTS ${include}/${header})
    set(${out} "no include/${header} in ${folder}" PARENT_SCOPE)
    return()
  endif()
  string(MD5 key "${folder} ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION}")
  set(CMAKE_REQUIRED_INCLUDES ${include})
  set(CMAKE_REQUIRED_FLAGS -std=c++20)
  set(CMAKE_REQUIRED_LIBRARIES Threads::Threads)
  check_cxx_source_compiles("#include <${header}>\nint main() {}" BENCH_COMPILES_${peer}_${key})
  if(NOT BENCH_COMPILES_${peer}_${key})
    set(${out} "needs a newer compiler: ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} rejects ${header}, \
GCC 12 takes it" PARENT_SCOPE)
    return()
  endif()
  add_library(bench_headers_${peer} INTERFACE IMPORTED)  # imported: no warnings of these headers
  target_include_directories(bench_headers_${peer} INTERFACE ${include})
  target_link_libraries(bench_headers_${peer} INTERFACE PkgConfig::HWLOC)
endfunction()

function(_given_lace)
  cmake_parse_arguments(P "" "" "WORKLOADS" ${ARGN})
  _given_folder(folder lace "where Lace 1.4 (github.com/trolando/lace) is installed")
  if(NOT folder)
    return()
  endif()
  unset(lace_DIR CACHE)
  find_package(lace 1.4 CONFIG QUIET PATHS ${folder} NO_DEFAULT_PATH)
  if(NOT lace_FOUND)
    set(found none)
    if(lace_CONSIDERED_VERSIONS)
      set(found ${lace_CONSIDERED_VERSIONS})
    endif()
    _given_peer_missing(lace "needs Lace 1.4 installed in ${folder}, found ${found}")
    return()
  endif()
  bench_peer(NAME lace WORKLOADS ${P_WORKLOADS} LIBRARIES lace::lace)
  target_compile_definitions(bench_lace PRIVATE BENCH_PEER_VERSION="${lace_VERSION}")
  # The code of its macros is C that is compiled as C++.
  target_compile_options(bench_lace PRIVATE -Wno-pedantic -Wno-variadic-macros -Wno-old-style-cast -Wno-shadow
                         -Wno-conversion -Wno-sign-conversion)
endfunction()

# _given_header_peer(NAME citor HEADER citor/thread_pool.h SOURCE github.com/...
#                    WORKLOADS ... [HWLOC LF_USE_HWLOC] [LIBRARIES ...])
# HWLOC: the definition with which the library uses hwloc, as its own CMake package does by default.
function(_given_header_peer)
  cmake_parse_arguments(P "" "NAME;HEADER;SOURCE;HWLOC" "WORKLOADS;LIBRARIES" ${ARGN})
  _given_folder(folder ${P_NAME} "a checkout of ${P_SOURCE}")
  if(NOT folder)
    return()
  endif()
  _given_headers(why ${P_NAME} ${folder} ${P_HEADER})
  if(TBB::tbb IN_LIST P_LIBRARIES AND NOT TARGET TBB::tbb)
    set(why "needs oneTBB (Debian: libtbb-dev)")
  endif()
  if(why)
    _given_peer_missing(${P_NAME} "${why}")
    return()
  endif()
  bench_peer(NAME ${P_NAME} WORKLOADS ${P_WORKLOADS} LIBRARIES bench_headers_${P_NAME} ${P_LIBRARIES})
  set(version "unknown")
  if(EXISTS ${folder}/.git)
    execute_process(COMMAND git -C ${folder} rev-parse --short HEAD OUTPUT_VARIABLE version
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  target_compile_definitions(bench_${P_NAME} PRIVATE BENCH_PEER_VERSION="${version}" ${P_HWLOC})
endfunction()

# A second peer of the same headers: its threads sleep where those of the first one poll.
function(_given_fastflow_that_blocks)
  cmake_parse_arguments(P "" "" "WORKLOADS" ${ARGN})
  if(NOT TARGET bench_headers_fastflow)
    file(REMOVE ${BENCH_BIN}/bench_ff_blocking)
    return()
  endif()
  bench_peer(NAME ff_blocking SOURCES_OF fastflow WORKLOADS ${P_WORKLOADS} LIBRARIES bench_headers_fastflow)
  get_target_property(definitions bench_fastflow COMPILE_DEFINITIONS)
  foreach(peer fastflow ff_blocking)
    # The library allows itself more than the project does.
    target_compile_options(bench_${peer} PRIVATE -Wno-shadow -Wno-conversion -Wno-sign-conversion -Wno-old-style-cast)
  endforeach()
  list(FILTER definitions INCLUDE REGEX BENCH_PEER_VERSION)
  target_compile_definitions(bench_ff_blocking PRIVATE ${definitions} BENCH_FASTFLOW_BLOCKS=true)
  target_compile_definitions(bench_fastflow PRIVATE BENCH_FASTFLOW_BLOCKS=false)
endfunction()

function(bench_given_peers)
  cmake_parse_arguments(P "" "" "WORKLOADS" ${ARGN})
  include(CheckCXXSourceCompiles)
  _given_lace(WORKLOADS ${P_WORKLOADS})
  _given_header_peer(NAME libfork HEADER libfork.hpp HWLOC LF_USE_HWLOC
                     SOURCE github.com/ConorWilliams/libfork WORKLOADS ${P_WORKLOADS})
  _given_header_peer(NAME citor HEADER citor/thread_pool.h
                     SOURCE github.com/Lallapallooza/citor WORKLOADS ${P_WORKLOADS})
  _given_header_peer(NAME toomanycooks HEADER tmc/all_headers.hpp HWLOC TMC_USE_HWLOC
                     SOURCE github.com/tzcnt/TooManyCooks WORKLOADS ${P_WORKLOADS})
  # This source compiles the library, once per program.
  set_source_files_properties(harness/toomanycooks_runtime.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  _given_header_peer(NAME ips4o HEADER ips4o.hpp SOURCE github.com/ips4o/ips4o
                     WORKLOADS ${P_WORKLOADS} LIBRARIES TBB::tbb atomic)
  _given_header_peer(NAME fastflow HEADER ff/ff.hpp SOURCE github.com/fastflow/fastflow WORKLOADS ${P_WORKLOADS})
  _given_fastflow_that_blocks(WORKLOADS ${P_WORKLOADS})
  if(TARGET bench_ips4o)
    # As its README says: else its parallel part is left out, and compare-and-swap of 16 bytes takes a lock.
    target_compile_options(bench_ips4o PRIVATE -pthread -mcx16)
  endif()
endfunction()
