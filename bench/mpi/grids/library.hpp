// SPDX-License-Identifier: Apache-2.0
// The routines of ScaLAPACK by their Fortran names, as one shared library has them.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstddef>
#include <cstdio>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb,
               const int* row_source, const int* col_source, const int* context, const int* leading,
               int* info);
void pdormqr_(const char* side, const char* op, const int* m, const int* n, const int* k,
              const double* a, const int* ia, const int* ja, const int* desc_a, const double* tau,
              double* c, const int* ic, const int* jc, const int* desc_c, double* work,
              const int* work_size, int* info);
}

namespace bench {

inline void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// The routines as one shared library has them.
class library {
 public:
  explicit library(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    require(handle_ != nullptr, file);
    find(getrf, "pdgetrf_");
    find(potrf, "pdpotrf_");
    find(geqrf, "pdgeqrf_");
    find(getrs, "pdgetrs_");
    find(gemm, "pdgemm_");
  }

  using descriptor = const int*;
  void (*getrf)(const int* m, const int* n, double* a, const int* ia, const int* ja, descriptor,
                int* pivots, int* info);
  void (*potrf)(const char* stored, const int* n, double* a, const int* ia, const int* ja,
                descriptor, int* info, std::size_t);
  void (*geqrf)(const int* m, const int* n, double* a, const int* ia, const int* ja, descriptor,
                double* tau, double* work, const int* work_size, int* info);
  void (*getrs)(const char* op, const int* n, const int* right_hand_sides, const double* a,
                const int* ia, const int* ja, descriptor, const int* pivots, double* b,
                const int* ib, const int* jb, descriptor, int* info, std::size_t);
  void (*gemm)(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
               const double* alpha, const double* a, const int* ia, const int* ja, descriptor,
               const double* b, const int* ib, const int* jb, descriptor, const double* beta,
               double* c, const int* ic, const int* jc, descriptor);

 private:
  template <class F>
  void find(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(handle_, name));
    require(function != nullptr, name);
  }
  void* handle_;
};

}  // namespace bench
