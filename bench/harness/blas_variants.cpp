// SPDX-License-Identifier: Apache-2.0
#include "blas_variants.hpp"

#include <glob.h>

#include <cstdlib>

namespace bench::blas {
namespace {

#if defined(__x86_64__)
bool avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool avx512() {
  return avx2() && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
}
bool avx512_bf16() {
  return avx512() && __builtin_cpu_supports("avx512bf16");
}
#else
bool avx2() {
  return false;
}
bool avx512() {
  return false;
}
bool avx512_bf16() {
  return false;
}
#endif

constexpr const char* from_wheels = "`./bootstrap bench linalg` fetches it where pip can";

variant openblas_wheel(const char* name, const char* kernel = "", bool (*runs_here)() = nullptr) {
  variant v{.name = name,
            .files = {"scipy-openblas32==*/scipy_openblas32/lib/libscipy_openblas.so"},
            .how = from_wheels,
            .prefix = "scipy_",
            .kernel = kernel,
            .runs_here = runs_here};
  if (*kernel != '\0') v.environment = {{"OPENBLAS_CORETYPE", kernel}};
  return v;
}

/// Has no LAPACK: the reference one on top of BLIS makes so many small calls, each of which starts
/// threads that spin for each other, that two threads can take minutes on a busy machine.
variant debian_blis(const char* name, const char* kernel = "", bool (*runs_here)() = nullptr) {
  variant v{.name = name,
            .files = {"/usr/lib/*/blis-pthread/libblis.so.4"},
            .how = "install Debian's package libblis4-pthread",
            .kernel = kernel,
            .runs_here = runs_here};
  if (*kernel != '\0') v.environment = {{"BLIS_ARCH_TYPE", kernel}};
  return v;
}

/// Returns libflame's LAPACK on BLIS, which does not detect recent processors by itself.
variant libflame() {
  variant v{.name = "libflame",
            .files = {"/usr/lib/*/blis-pthread/libblis.so.4", "/usr/lib/*/libflame.so.1"},
            .how = "install Debian's packages libflame1 and libblis4-pthread"};
  if (avx512()) v.environment = {{"BLIS_ARCH_TYPE", "skx"}};
  return v;
}

std::vector<variant> all() {
  return {openblas_wheel("openblas"),
          openblas_wheel("openblas-haswell", "Haswell", avx2),
          openblas_wheel("openblas-zen", "Zen", avx2),
          openblas_wheel("openblas-skylakex", "SkylakeX", avx512),
          openblas_wheel("openblas-cooperlake", "Cooperlake", avx512_bf16),
          {.name = "mkl",
           .files = {"intel-openmp==*/intel_openmp-*.data/data/lib/libiomp5.so",
                     "mkl==*/mkl-*.data/data/lib/libmkl_rt.so.*"},
           .how = from_wheels,
           .environment = {{"MKL_THREADING_LAYER", "INTEL"}, {"MKL_INTERFACE_LAYER", "LP64"}}},
          {.name = "debian-openblas",
           .files = {"/usr/lib/*/openblas-pthread/libopenblas.so.0"},
           .how = "install Debian's package libopenblas0-pthread"},
          debian_blis("debian-blis"),
          debian_blis("debian-blis-skx", "skx", avx512),
          libflame(),
          {.name = "netlib",
           .files = {"/usr/lib/*/blas/libblas.so.3", "/usr/lib/*/lapack/liblapack.so.3"},
           .how = "install Debian's packages libblas3 and liblapack3",
           .largest = 1000}};
}

std::string wheels() {
  const char* chosen = std::getenv("CREEK_BENCH_WHEELS");
  return chosen != nullptr ? chosen : BENCH_WHEELS;
}

/// Returns the first file that matches, or an empty text.
std::string first_match(const std::string& pattern) {
  glob_t found{};
  std::string file;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0 && found.gl_pathc > 0)
    file = found.gl_pathv[0];
  globfree(&found);
  return file;
}

}  // namespace

std::span<const variant> variants() {
  static const std::vector<variant> list = all();
  return list;
}

std::vector<std::string> files_of(const variant& v) {
  std::vector<std::string> files;
  for (const std::string pattern : v.files) {
    files.push_back(first_match(pattern.starts_with('/') ? pattern : wheels() + "/" + pattern));
    if (files.back().empty()) return {};
  }
  return files;
}

}  // namespace bench::blas
