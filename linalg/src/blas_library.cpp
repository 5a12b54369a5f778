// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/blas_library.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

namespace creek::linalg {
namespace {

/// Calls a C function of a library; a result made of nothing if there is none.
template <class Function, class... Arguments>
auto call_in(void* library, const char* name, Arguments... arguments) {
  auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
  using result = decltype(function(arguments...));
  if constexpr (std::is_void_v<result>) {
    if (function != nullptr) function(arguments...);
  } else {
    return function == nullptr ? result{} : function(arguments...);
  }
}

std::string text_of(const char* text) {
  return text == nullptr ? "" : text;
}

/// "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
std::string openblas_version(void* library) {
  const std::string all = text_of(call_in<const char*()>(library, "openblas_get_config"));
  const auto first = all.find(' ');
  if (first == std::string::npos) return {};
  return all.substr(first + 1, all.find(' ', first + 1) - first - 1);
}

std::string mkl_version(void* library) {
  struct {  // MKLVersion of mkl_types.h
    int major, minor, update;
    const char *status, *build, *processor, *platform;
  } found{};
  call_in<void(void*)>(library, "MKL_Get_Version", &found);
  return std::to_string(found.major) + "." + std::to_string(found.minor) + "." +
         std::to_string(found.update);
}

/// MKL tells nobody, but at the first call loads what it takes, such as libmkl_avx2.so.2.
std::string mkl_kernel(void* library) {
  double x = 1;
  const int one = 1;
  call_in<void(const int*, const double*, double*, const int*)>(library, "dscal_", &one, &x, &x,
                                                                &one);
  std::string kernel;
  const auto look = [](dl_phdr_info* info, std::size_t, void* to) {
    const std::string file = std::filesystem::path(info->dlpi_name).filename();
    for (const char* name : {"avx10", "avx512", "avx2", "mc3", "def"}) {
      if (file.starts_with(std::string("libmkl_") + name + ".so")) {
        *static_cast<std::string*>(to) = name;
      }
    }
    return 0;
  };
  dl_iterate_phdr(look, &kernel);
  return kernel;
}

std::string blis_kernel(void* library) {
  call_in<void()>(library, "bli_init");  // or it does not know its number
  return text_of(call_in<const char*(int)>(library, "bli_arch_string",
                                           call_in<int()>(library, "bli_arch_query_id")));
}

/// The file of a library, by a function of the BLAS that is in it or in what it was linked with.
std::optional<std::string> file_of(void* library) {
  Dl_info where{};
  void* const function = dlsym(library, "dgemm_");
  if (function == nullptr || dladdr(function, &where) == 0) return std::nullopt;
  std::error_code failed;
  const auto path = std::filesystem::canonical(where.dli_fname, failed);
  return failed ? std::string(where.dli_fname) : path.string();
}

blas_library describe(void* library, std::string path) {
  const auto has = [library](const char* name) { return dlsym(library, name) != nullptr; };
  if (has("openblas_get_corename")) {
    return {"OpenBLAS", openblas_version(library),
            text_of(call_in<const char*()>(library, "openblas_get_corename")), std::move(path)};
  }
  if (has("MKL_Get_Version")) {
    return {"MKL", mkl_version(library), mkl_kernel(library), std::move(path)};
  }
  if (has("bli_arch_query_id")) {
    return {"BLIS", text_of(call_in<const char*()>(library, "bli_info_get_version_str")),
            blis_kernel(library), std::move(path)};
  }
  return {"BLAS", "", "", std::move(path)};
}

}  // namespace

std::vector<blas_library> other_blas_libraries() {
  std::vector<blas_library> found;
  for (const char* name :
       {"libopenblas.so.0", "libmkl_rt.so.3", "libmkl_rt.so.2", "libblis.so.4", "libblas.so.3"}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto path = file_of(library);
    const auto is_there = [&](const blas_library& other) { return other.path == *path; };
    if (!path || std::any_of(found.begin(), found.end(), is_there)) continue;
    found.push_back(describe(library, *path));
  }
  return found;
}

}  // namespace creek::linalg
