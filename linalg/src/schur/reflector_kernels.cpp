// SPDX-License-Identifier: Apache-2.0
// Reflectors of three elements, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "schur/reflector_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h includes this file again per target; Highway itself comes after it.
#include <hwy/highway.h>

#include "reflector_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace creek::linalg::detail::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class R>
using tag = hn::CappedTag<R, 64 / sizeof(R)>;

template <class R>
HWY_ATTR void reflect_columns(index_t n, R* HWY_RESTRICT x0, R* HWY_RESTRICT x1, R* HWY_RESTRICT x2,
                              const R* v, const R* t) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  const auto v1 = hn::Set(d, v[0]), v2 = hn::Set(d, v[1]);
  const auto t0 = hn::Set(d, t[0]), t1 = hn::Set(d, t[1]), t2 = hn::Set(d, t[2]);
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto a = hn::LoadU(d, x0 + i), b = hn::LoadU(d, x1 + i), c = hn::LoadU(d, x2 + i);
    const auto s = hn::MulAdd(v2, c, hn::MulAdd(v1, b, a));
    hn::StoreU(hn::NegMulAdd(s, t0, a), d, x0 + i);
    hn::StoreU(hn::NegMulAdd(s, t1, b), d, x1 + i);
    hn::StoreU(hn::NegMulAdd(s, t2, c), d, x2 + i);
  }
  for (; i < n; ++i) {
    const R s = x0[i] + v[0] * x1[i] + v[1] * x2[i];
    x0[i] -= s * t[0];
    x1[i] -= s * t[1];
    x2[i] -= s * t[2];
  }
}

template <class R>
HWY_ATTR void reflect_rows(index_t n, R* HWY_RESTRICT x, index_t step, const R* v, const R* t) {
  const R v1 = v[0], v2 = v[1], t0 = t[0], t1 = t[1], t2 = t[2];
  for (index_t j = 0; j < n; ++j, x += step) {
    const R a = x[0], b = x[1], c = x[2];
    const R s = a + v1 * b + v2 * c;
    x[0] = a - s * t0;
    x[1] = b - s * t1;
    x[2] = c - s * t2;
  }
}

template <class R>
HWY_ATTR void reflect_complex(R* HWY_RESTRICT x0, R* HWY_RESTRICT x1, R* HWY_RESTRICT x2,
                              const R* v, const R* t) {
  const R sr = x0[0] + (v[0] * x1[0] - v[1] * x1[1]) + (v[2] * x2[0] - v[3] * x2[1]);
  const R si = x0[1] + (v[0] * x1[1] + v[1] * x1[0]) + (v[2] * x2[1] + v[3] * x2[0]);
  R* const to[] = {x0, x1, x2};
  for (int p = 0; p < 3; ++p) {
    to[p][0] -= sr * t[2 * p] - si * t[2 * p + 1];
    to[p][1] -= sr * t[2 * p + 1] + si * t[2 * p];
  }
}

template <class R>
HWY_ATTR void reflect_columns_complex(index_t n, R* HWY_RESTRICT x0, R* HWY_RESTRICT x1,
                                      R* HWY_RESTRICT x2, const R* v, const R* t) {
  index_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  using vector = hn::Vec<tag<R>>;
  const auto crossed = [&](R im) HWY_ATTR { return hn::OddEven(hn::Set(d, im), hn::Set(d, -im)); };
  const vector v1 = hn::Set(d, v[0]), v1i = crossed(v[1]);
  const vector v2 = hn::Set(d, v[2]), v2i = crossed(v[3]);
  const vector t0 = hn::Set(d, t[0]), t0i = crossed(t[1]);
  const vector t1 = hn::Set(d, t[2]), t1i = crossed(t[3]);
  const vector t2 = hn::Set(d, t[4]), t2i = crossed(t[5]);
  for (; i + lanes <= 2 * n; i += lanes) {
    const auto a = hn::LoadU(d, x0 + i), b = hn::LoadU(d, x1 + i), c = hn::LoadU(d, x2 + i);
    auto s = hn::MulAdd(v1, b, a);
    s = hn::MulAdd(v1i, hn::Reverse2(d, b), s);
    s = hn::MulAdd(v2, c, s);
    s = hn::MulAdd(v2i, hn::Reverse2(d, c), s);
    const auto r = hn::Reverse2(d, s);
    hn::StoreU(hn::NegMulAdd(r, t0i, hn::NegMulAdd(s, t0, a)), d, x0 + i);
    hn::StoreU(hn::NegMulAdd(r, t1i, hn::NegMulAdd(s, t1, b)), d, x1 + i);
    hn::StoreU(hn::NegMulAdd(r, t2i, hn::NegMulAdd(s, t2, c)), d, x2 + i);
  }
#endif
  for (; i < 2 * n; i += 2) reflect_complex(x0 + i, x1 + i, x2 + i, v, t);
}

template <class R>
HWY_ATTR void reflect_rows_complex(index_t n, R* HWY_RESTRICT x, index_t step, const R* v,
                                   const R* t) {
  for (index_t j = 0; j < n; ++j, x += 2 * step) reflect_complex(x, x + 2, x + 4, v, t);
}

template <class R>
const reflector_kernels<R>* reflectors() {
  static const reflector_kernels<R> all{reflect_columns<R>, reflect_columns_complex<R>,
                                        reflect_rows<R>, reflect_rows_complex<R>};
  return &all;
}
}  // namespace

CREEK_OFFER_KERNELS(reflector_kernels, reflectors)

}  // namespace creek::linalg::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::linalg::detail {

CREEK_CHOOSE_KERNELS(reflector_kernels)

}  // namespace creek::linalg::detail
#endif
