// SPDX-License-Identifier: Apache-2.0
// Routines of ScaLAPACK by the type of their elements.
#pragma once

#include <complex>
#include <cstddef>

#define DECLARE(LETTER, T)                                                                         \
  extern "C" void p##LETTER##gesv_(const int*, const int*, T*, const int*, const int*, const int*, \
                                   int*, T*, const int*, const int*, const int*, int*);            \
  extern "C" void p##LETTER##getrf_(const int*, const int*, T*, const int*, const int*,            \
                                    const int*, int*, int*);                                       \
  extern "C" void p##LETTER##getrs_(const char*, const int*, const int*, T*, const int*,           \
                                    const int*, const int*, int*, T*, const int*, const int*,      \
                                    const int*, int*, std::size_t);                                \
  extern "C" void p##LETTER##potrf_(const char*, const int*, T*, const int*, const int*,           \
                                    const int*, int*, std::size_t);                                \
  extern "C" void p##LETTER##posv_(const char*, const int*, const int*, T*, const int*,            \
                                   const int*, const int*, T*, const int*, const int*, const int*, \
                                   int*, std::size_t);                                             \
  extern "C" void p##LETTER##potrs_(const char*, const int*, const int*, T*, const int*,           \
                                    const int*, const int*, T*, const int*, const int*,            \
                                    const int*, int*, std::size_t);                                \
  extern "C" void p##LETTER##geqrf_(const int*, const int*, T*, const int*, const int*,            \
                                    const int*, T*, T*, const int*, int*);                         \
  extern "C" void p##LETTER##gemm_(const char*, const char*, const int*, const int*, const int*,   \
                                   const T*, T*, const int*, const int*, const int*, T*,           \
                                   const int*, const int*, const int*, const T*, T*, const int*,   \
                                   const int*, const int*);
DECLARE(s, float)
DECLARE(d, double)
DECLARE(c, std::complex<float>)
DECLARE(z, std::complex<double>)

#define DECLARE_PRODUCT(NAME, T)                                                                 \
  extern "C" void NAME(const char*, const char*, const int*, const int*, const int*, T*,         \
                       const int*, const int*, const int*, const T*, T*, const int*, const int*, \
                       const int*, T*, const int*, int*, std::size_t, std::size_t);
DECLARE_PRODUCT(psormqr_, float)
DECLARE_PRODUCT(pdormqr_, double)
DECLARE_PRODUCT(pcunmqr_, std::complex<float>)
DECLARE_PRODUCT(pzunmqr_, std::complex<double>)

template <class T>
struct routines;
#define ROUTINES(LETTER, T, PRODUCT)                      \
  template <>                                             \
  struct routines<T> {                                    \
    static constexpr char letter = #LETTER[0];            \
    static constexpr auto ormqr = &p##LETTER##PRODUCT##_; \
    static constexpr auto gesv = &p##LETTER##gesv_;       \
    static constexpr auto getrf = &p##LETTER##getrf_;     \
    static constexpr auto getrs = &p##LETTER##getrs_;     \
    static constexpr auto potrf = &p##LETTER##potrf_;     \
    static constexpr auto potrs = &p##LETTER##potrs_;     \
    static constexpr auto posv = &p##LETTER##posv_;       \
    static constexpr auto geqrf = &p##LETTER##geqrf_;     \
    static constexpr auto gemm = &p##LETTER##gemm_;       \
  };
ROUTINES(s, float, ormqr)
ROUTINES(d, double, ormqr)
ROUTINES(c, std::complex<float>, unmqr)
ROUTINES(z, std::complex<double>, unmqr)
