// SPDX-License-Identifier: Apache-2.0
#include "parquet_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/core/shared_library.hpp>
#include <filesystem>

namespace creek::tpch {
namespace {

constexpr const char* how_to_get_it =
    "this creek was built without Parquet: install Arrow's C++ library, or `pip install pyarrow` "
    "and "
    "configure with CREEK_PYARROW (docs/tpch.md), and build again";

struct parquet_module {
  open_parquet_function* open = nullptr;
  std::string why_not;
};

/// Loads the module for good, since the code of readers is in it.
parquet_module load_module() {
  namespace fs = std::filesystem;
  std::error_code fault;
  const fs::path folder = fs::read_symlink("/proc/self/exe", fault).parent_path();
  for (const fs::path& place : {folder, folder / CREEK_MODULE_FOLDER}) {
    const fs::path file = place / "creek_parquet.so";
    if (!fs::exists(file, fault)) continue;
    void* const found = shared_library(file.c_str()).find(open_parquet_name);
    if (found == nullptr)
      return {nullptr, fmt::format("the reader cannot be loaded: {}", dlerror())};
    return {reinterpret_cast<open_parquet_function*>(found), ""};
  }
  return {nullptr, how_to_get_it};
}

}  // namespace

std::unique_ptr<parquet_reader> open_parquet(const std::string& name, std::string_view bytes) {
  static const parquet_module module = load_module();
  if (module.open == nullptr) throw error(ENOTSUP, name + ": " + module.why_not);
  return module.open(bytes);
}

}  // namespace creek::tpch
