// SPDX-License-Identifier: Apache-2.0
// Stops, with one message, a compilation that creek cannot be part of. Every header that includes
// no other of creek includes this one.
#pragma once

#if __cplusplus < 202002L
#error "creek needs C++20: compile with -std=c++20 (CMake: set CMAKE_CXX_STANDARD to 20)"
#define CREEK_STOP
#elif !defined(__cpp_exceptions)
#error "creek reports errors as exceptions: compile without -fno-exceptions"
#define CREEK_STOP
#endif
#ifdef CREEK_STOP
// Including this file, which does not exist, ends the compilation here; otherwise hundreds of
// messages would follow.
#include "creek_stops_this_compilation"
#endif
