# SPDX-License-Identifier: Apache-2.0
# What creek is built on. Required: hwloc, fmt, nlohmann-json, Highway, xxHash, Boost.Context, zlib, zstd.
# Optional: oneTBB (backend `tbb`), libdw (line numbers in reports of the coherence checker). All
# from the system; nothing is downloaded.
include_guard(GLOBAL)

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost REQUIRED COMPONENTS context)
if(CREEK_WITH_TBB)
  find_package(TBB QUIET)
endif()

# These ship a pkg-config file in every version, a CMake package only in some.
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(HWY_CONTRIB REQUIRED IMPORTED_TARGET libhwy-contrib)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(DW QUIET IMPORTED_TARGET libdw)

# How a consumer of the installed library finds again what `creek` links, a row a target:
#   target | CMake call in creek-config.cmake | pkg-config module, or -l flag where it has none
# creek_install() writes the rows that are needed; a library missing here stops the configuration.
# hwloc goes by flag: its module asks `pkg-config --static` for libudev, which Debian's libhwloc-dev
# does not bring.
set(CREEK_CONSUMER_DEPENDENCIES
  "Threads::Threads|find_dependency(Threads)|-pthread"
  "fmt::fmt|find_dependency(fmt)|fmt"
  "ZLIB::ZLIB|find_dependency(ZLIB)|zlib"
  "Boost::context|find_dependency(Boost COMPONENTS context)|-lboost_context"
  "TBB::tbb|find_dependency(TBB)|tbb"
  "PkgConfig::HWLOC|creek_find_pkgconfig(HWLOC hwloc)|-lhwloc"
  "PkgConfig::XXHASH|creek_find_pkgconfig(XXHASH libxxhash)|libxxhash"
  "PkgConfig::ZSTD|creek_find_pkgconfig(ZSTD libzstd)|libzstd"
  "PkgConfig::DW|creek_find_pkgconfig(DW libdw)|-ldw"
  "PkgConfig::HWY|creek_find_pkgconfig(HWY libhwy)|libhwy"
  "PkgConfig::HWY_CONTRIB|creek_find_pkgconfig(HWY_CONTRIB libhwy-contrib)|libhwy-contrib")
