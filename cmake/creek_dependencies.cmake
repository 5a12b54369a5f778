# SPDX-License-Identifier: Apache-2.0
# The libraries that creek is built on, for the components in CREEK_WANTED only. Optional: oneTBB (component
# tbb), libdw (line numbers in reports of the coherence checker), utf8proc, RE2 and simdjson (component text). All from the system; nothing is downloaded.
include_guard(GLOBAL)

# Stops the configuration if a library was not found, and says which Debian package has it.
function(_creek_require target package user)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "creek: ${target} is missing, which ${user} needs: install ${package} "
                        "(the name of the Debian package)")
  endif()
endfunction()

# _creek_find(fmt::fmt libfmt-dev "core tasking" fmt): find_package(fmt), if one of these components is wanted.
macro(_creek_find target package users)
  foreach(_creek_user ${users})
    if(_creek_user IN_LIST CREEK_WANTED)
      find_package(${ARGN} QUIET)
      _creek_require(${target} ${package} "component ${_creek_user}")
      break()
    endif()
  endforeach()
endmacro()

# _creek_find_pkgconfig(HWY libhwy-dev "tasking linalg" libhwy): the target PkgConfig::HWY, for libraries that
# ship a pkg-config file in every version, a CMake package only in some.
macro(_creek_find_pkgconfig prefix package users module)
  foreach(_creek_user ${users})
    if(_creek_user IN_LIST CREEK_WANTED)
      pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
      _creek_require(PkgConfig::${prefix} ${package} "component ${_creek_user}")
      break()
    endif()
  endforeach()
endmacro()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
  message(FATAL_ERROR "creek: pkg-config is missing: install pkg-config (the name of the Debian package)")
endif()
_creek_find(fmt::fmt libfmt-dev core fmt)
_creek_find(Boost::context libboost-context-dev core Boost COMPONENTS context)
_creek_find(nlohmann_json::nlohmann_json nlohmann-json3-dev scc nlohmann_json)
_creek_find(ZLIB::ZLIB zlib1g-dev mapreduce ZLIB)
_creek_find(LibLZMA::LibLZMA liblzma-dev mapreduce LibLZMA)
_creek_find(BZip2::BZip2 libbz2-dev mapreduce BZip2)
_creek_find_pkgconfig(HWLOC libhwloc-dev tasking hwloc)
_creek_find_pkgconfig(HWY libhwy-dev "tasking;mapreduce;linalg" libhwy)
_creek_find_pkgconfig(HWY_CONTRIB libhwy-dev tasking libhwy-contrib)
_creek_find_pkgconfig(XXHASH libxxhash-dev tasking libxxhash)
_creek_find_pkgconfig(ZSTD libzstd-dev mapreduce libzstd)
_creek_find_pkgconfig(LZ4 liblz4-dev mapreduce liblz4)
if(scc IN_LIST CREEK_WANTED)
  pkg_check_modules(DW QUIET IMPORTED_TARGET libdw)
endif()
if(text IN_LIST CREEK_WANTED)
  foreach(library UTF8PROC:libutf8proc RE2:re2 SIMDJSON:simdjson)
    string(REPLACE ":" ";" library ${library})
    list(GET library 0 prefix)
    list(GET library 1 module)
    if(CREEK_WITH_${prefix})
      pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
    endif()
  endforeach()
endif()
if(CREEK_COMPLETE AND CREEK_WITH_TBB)
  find_package(TBB QUIET)
elseif(NOT CREEK_COMPLETE)
  _creek_find(TBB::tbb libtbb-dev tbb TBB)
endif()
if(CREEK_BUILD_APPS OR CREEK_BUILD_BENCH)
  find_package(CLI11 QUIET)
  _creek_require(CLI11::CLI11 libcli11-dev "the tool")
  if(CREEK_WITH_JPEG)
    pkg_check_modules(JPEG QUIET IMPORTED_TARGET libjpeg)
  endif()
endif()
if(CREEK_BUILD_TESTS)
  find_package(GTest QUIET)
  _creek_require(GTest::gmock "libgtest-dev and libgmock-dev" "the test suite")
endif()

include(creek_find_highway)
if(TARGET PkgConfig::HWY)
  creek_define_highway()
  # SSSE3 without SSE4 is of before 2008, and AVX3_DL brings these loops nothing. Sanitizers at the level `gate` look at
  # three of the four sets, and, for Clang, at plain numbers instead of emulated vectors, which it compiles for long.
  set(left_out HWY_SSSE3|HWY_AVX3_DL)
  set(without_emulation)
  if(CREEK_SANITIZE AND NOT CREEK_TEST_LEVEL STREQUAL "all")
    string(APPEND left_out |HWY_SSE4)
    set(without_emulation HWY_BROKEN_EMU128=1)
  endif()
  foreach(target creek::highway PkgConfig::HWY)
    target_compile_definitions(${target} INTERFACE "HWY_DISABLED_TARGETS=(${left_out})" ${without_emulation})
  endforeach()
endif()

# How a consumer of the installed libraries finds again what one of them links, a row a target:
#   target | CMake call in the component's file | pkg-config module, or flag where it has none
# creek_install() writes the rows that are needed; a library missing here stops the configuration.
set(CREEK_CONSUMER_DEPENDENCIES
  "Threads::Threads|find_dependency(Threads)|-pthread"
  "fmt::fmt|find_dependency(fmt)|fmt"
  "ZLIB::ZLIB|find_dependency(ZLIB)|zlib"
  "LibLZMA::LibLZMA|find_dependency(LibLZMA)|liblzma"
  "BZip2::BZip2|find_dependency(BZip2)|-lbz2"
  "Boost::context|find_dependency(Boost COMPONENTS context)|-lboost_context"
  "TBB::tbb|find_dependency(TBB)|tbb"
  "PkgConfig::ZSTD|creek_find_pkgconfig(ZSTD libzstd)|libzstd"
  "PkgConfig::LZ4|creek_find_pkgconfig(LZ4 liblz4)|liblz4"
  "PkgConfig::UTF8PROC|creek_find_pkgconfig(UTF8PROC libutf8proc)|-lutf8proc"
  "PkgConfig::RE2|creek_find_pkgconfig(RE2 re2)|re2"
  "PkgConfig::SIMDJSON|creek_find_pkgconfig(SIMDJSON simdjson)|-lsimdjson"
  "creek::highway|creek_find_highway()|-Wl,--push-state,--as-needed,-lhwy,-lhwy_contrib,--pop-state")
