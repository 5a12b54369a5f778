# SPDX-License-Identifier: Apache-2.0
# What creek is built on. Required: hwloc, fmt, nlohmann-json, Highway, xxHash, Boost.Context, zlib.
# Optional: oneTBB (backend `tbb`). All from the system; nothing is downloaded.
include_guard(GLOBAL)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(HWY_CONTRIB REQUIRED IMPORTED_TARGET libhwy-contrib)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost REQUIRED COMPONENTS context)
if(CREEK_WITH_TBB)
  find_package(TBB QUIET)
endif()
