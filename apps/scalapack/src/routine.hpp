// SPDX-License-Identifier: Apache-2.0
// The entry points: each tries creek, and calls the function of the same name that the loader finds
// next, ScaLAPACK's, if creek does not serve the call.
#pragma once

#include <complex>
#include <cstdint>
#include <exception>

namespace creek::scalapack {

/// One routine in this process. Constant initialisation only: programs may call it before main().
struct routine {
  const char* name;
  void* next = nullptr;  ///< ScaLAPACK's function
  std::uint64_t calls = 0, served = 0;
  double seconds = 0;
  routine* listed = nullptr;
  bool is_listed = false;
};

/// A call while it lasts, in the report of CREEK_SCALAPACK=verbose.
class noted_call {
 public:
  explicit noted_call(routine& of) noexcept;
  ~noted_call();
  noted_call(const noted_call&) = delete;
  noted_call& operator=(const noted_call&) = delete;
  void is_served() noexcept { ++of_->served; }

 private:
  routine* of_;
  std::int64_t began_;
};

/// Returns whether creek may serve a call: not with CREEK_SCALAPACK=0, and not one that ScaLAPACK
/// makes itself.
[[nodiscard]] bool may_serve() noexcept;

/// Until its end, calls of routines are ScaLAPACK's own.
class inside_scalapack {
 public:
  inside_scalapack() noexcept;
  ~inside_scalapack();
  inside_scalapack(const inside_scalapack&) = delete;
  inside_scalapack& operator=(const inside_scalapack&) = delete;
};

/// Returns ScaLAPACK's function; ends the program with one line if there is none.
[[nodiscard]] void* next_function(routine& of) noexcept;
/// Ends all processes with one line: the others wait for messages of this one.
[[noreturn]] void end_all(const routine& of, const char* why) noexcept;

/// `ours` returns false if creek does not serve the call; then `theirs` gets ScaLAPACK's function.
template <class Ours, class Theirs>
void run(routine& of, Ours&& ours, Theirs&& theirs) noexcept {
  noted_call noted(of);
  try {
    if (may_serve() && ours()) return noted.is_served();
  } catch (const std::exception& failure) {
    end_all(of, failure.what());
  }
  const inside_scalapack inside;
  theirs(next_function(of));
}

}  // namespace creek::scalapack

/// Defines the entry point NAME. OURS is an expression of the parameters.
#define CREEK_SCALAPACK(NAME, PARAMETERS, ARGUMENTS, OURS)                       \
  extern "C" [[gnu::visibility("default")]] void NAME PARAMETERS {               \
    static constinit creek::scalapack::routine here{#NAME};                      \
    creek::scalapack::run(                                                       \
        here, [&] { return OURS; },                                              \
        [&](void* next) { reinterpret_cast<decltype(&NAME)>(next) ARGUMENTS; }); \
  }

/// MAKE(letter, type) for each type of elements.
#define CREEK_EACH_TYPE(MAKE)  \
  MAKE(s, float)               \
  MAKE(d, double)              \
  MAKE(c, std::complex<float>) \
  MAKE(z, std::complex<double>)
