// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <dlfcn.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

extern "C" {
// Weak, so that the program's own xerbla_ is used if it has one.
[[gnu::weak]] void xerbla_(const char* routine, const creek::lapack::blas_int* position,
                           std::size_t length);
[[gnu::weak]] void cblas_xerbla(int position, const char* routine, const char* form, ...);
// While it is set, Netlib's cblas_xerbla takes positions as Fortran's, with A and B exchanged.
[[gnu::weak]] extern int RowMajorStrg;
[[gnu::weak]] void LAPACKE_xerbla(const char* routine, creek::lapack::blas_int info);
}

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {
namespace {

/// The suffix that libraries with 64-bit integers may have in their names.
#ifdef CREEK_LAPACK_ILP64
constexpr std::string_view suffix = "64_";
#else
constexpr std::string_view suffix;
#endif

/// The library that has the code at `address`, which is loaded, with those that it depends on.
class loaded_library {
 public:
  explicit loaded_library(const void* address) noexcept {
    Dl_info found;
    if (dladdr(address, &found) != 0) {
      handle_.reset(dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD));
    }
  }
  void* symbol(const std::string& name) const noexcept {
    return handle_ != nullptr ? dlsym(handle_.get(), name.c_str()) : nullptr;
  }

 private:
  struct closing {
    void operator()(void* handle) const noexcept { dlclose(handle); }
  };
  std::unique_ptr<void, closing> handle_;
};

/// Returns the function that receives errors: `bound`, if the symbol was bound at load time, else
/// one that the caller's library can see, as the libraries in SciPy's and NumPy's wheels have
/// under names of their own, else one that all can see, or nullptr.
template <class F>
F* find(F* bound, const std::string& name, const void* caller) {
  if (bound != nullptr) return bound;
  const loaded_library near(caller);
  const std::string names[] = {name + std::string(suffix), "scipy_" + name + std::string(suffix),
                               name};
  for (const std::string& each : names) {
    if (void* const found = near.symbol(each)) return reinterpret_cast<F*>(found);
  }
  for (const std::string& each : names) {
    if (void* const found = dlsym(RTLD_DEFAULT, each.c_str())) return reinterpret_cast<F*>(found);
  }
  return nullptr;
}

/// Returns "DGETRF", or "DGEMM " as the BLAS pads it.
std::string fortran_name(const char* routine) {
  std::string name(routine);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (name.size() < 6) name.resize(6, ' ');
  return name;
}

}  // namespace

void report_argument(const entry& called, int position) {
  const std::string name = fortran_name(called.routine);
  const auto place = static_cast<blas_int>(position);
  if (auto* const xerbla = find(&xerbla_, "xerbla_", called.caller)) {
    return xerbla(name.data(), &place, name.size());
  }
  const auto length = static_cast<int>(name.find_last_not_of(' ') + 1);
  std::fprintf(stderr, " ** On entry to %.*s parameter number %2d had an illegal value\n", length,
               name.data(), position);
}

void report_cblas_argument(const entry& called, int position) {
  if (auto* const xerbla = find(&cblas_xerbla, "cblas_xerbla", called.caller)) {
    int unset = 0;
    int& exchanged = &RowMajorStrg != nullptr ? RowMajorStrg : unset;
    const int before = std::exchange(exchanged, 0);  // our positions are those of C's list
    xerbla(position, called.routine, "");
    exchanged = before;
    return;
  }
  std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", position, called.routine);
}

void report_c_interface(const entry& called, blas_int info) {
  if (auto* const xerbla = find(&LAPACKE_xerbla, "LAPACKE_xerbla", called.caller)) {
    return xerbla(called.routine, info);
  }
  if (info == -1010) {
    std::fprintf(stderr, "Not enough memory to allocate work array in %s\n", called.routine);
  } else if (info == -1011) {
    std::fprintf(stderr, "Not enough memory to transpose matrix in %s\n", called.routine);
  } else if (info < 0) {
    std::fprintf(stderr, "Wrong parameter %d in %s\n", static_cast<int>(-info), called.routine);
  }
}

void die(const char* routine, const char* why) noexcept {
  std::fprintf(stderr, "creek: %s: %s\n", routine, why);
  std::abort();
}

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
