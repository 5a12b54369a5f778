// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <dlfcn.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string>
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
namespace {

/// Returns `bound` if the symbol was bound at load time, else one loaded since, or nullptr.
template <class F>
F* find(F* bound, const char* name) noexcept {
  return bound != nullptr ? bound : reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

/// Returns "DGETRF", or "DGEMM " as the BLAS pads it.
std::string fortran_name(const char* routine) {
  std::string name(routine);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (name.size() < 6) name.resize(6, ' ');
  return name;
}

}  // namespace

void report_argument(const char* routine, int position) {
  const std::string name = fortran_name(routine);
  const auto place = static_cast<blas_int>(position);
  if (auto* const xerbla = find(&xerbla_, "xerbla_")) {
    return xerbla(name.data(), &place, name.size());
  }
  const auto length = static_cast<int>(name.find_last_not_of(' ') + 1);
  std::fprintf(stderr, " ** On entry to %.*s parameter number %2d had an illegal value\n", length,
               name.data(), position);
}

void report_cblas_argument(const char* routine, int position) {
  if (auto* const xerbla = find(&cblas_xerbla, "cblas_xerbla")) {
    int unset = 0;
    int& exchanged = &RowMajorStrg != nullptr ? RowMajorStrg : unset;
    const int before = std::exchange(exchanged, 0);  // our positions are those of C's list
    xerbla(position, routine, "");
    exchanged = before;
    return;
  }
  std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", position, routine);
}

void report_c_interface(const char* routine, blas_int info) {
  if (auto* const xerbla = find(&LAPACKE_xerbla, "LAPACKE_xerbla")) return xerbla(routine, info);
  if (info == -1010) {
    std::fprintf(stderr, "Not enough memory to allocate work array in %s\n", routine);
  } else if (info == -1011) {
    std::fprintf(stderr, "Not enough memory to transpose matrix in %s\n", routine);
  } else if (info < 0) {
    std::fprintf(stderr, "Wrong parameter %d in %s\n", static_cast<int>(-info), routine);
  }
}

void die(const char* routine, const char* why) noexcept {
  std::fprintf(stderr, "creek: %s: %s\n", routine, why);
  std::abort();
}

}  // namespace creek::lapack
