// SPDX-License-Identifier: Apache-2.0
// Sets of kernels that are compiled once per instruction set and chosen at run time. SET is a
// template of a struct of functions; SET_of<R>() returns it for the current processor, with R float
// or double. Macros, because Highway's tables are made by pasting names.
#pragma once

/// Declares SET_of<R>().
#define CREEK_DECLARE_KERNELS(SET)              \
  template <class R>                            \
  const SET<R>& SET##_of() noexcept;            \
  template <>                                   \
  const SET<float>& SET##_of<float>() noexcept; \
  template <>                                   \
  const SET<double>& SET##_of<double>() noexcept;

/// In the namespace of an instruction set: offers what HERE<R>() returns there.
#define CREEK_OFFER_KERNELS(SET, HERE) \
  const SET<float>* SET##_f32() {      \
    return HERE<float>();              \
  }                                    \
  const SET<double>* SET##_f64() {     \
    return HERE<double>();             \
  }

/// Defines SET_of<R>(), once, where all instruction sets have offered theirs.
#define CREEK_CHOOSE_KERNELS(SET)                                          \
  HWY_EXPORT(SET##_f32);                                                   \
  HWY_EXPORT(SET##_f64);                                                   \
  template <>                                                              \
  const SET<float>& SET##_of<float>() noexcept {                           \
    static const SET<float>& chosen = *HWY_DYNAMIC_DISPATCH(SET##_f32)();  \
    return chosen;                                                         \
  }                                                                        \
  template <>                                                              \
  const SET<double>& SET##_of<double>() noexcept {                         \
    static const SET<double>& chosen = *HWY_DYNAMIC_DISPATCH(SET##_f64)(); \
    return chosen;                                                         \
  }
