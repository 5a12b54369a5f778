// SPDX-License-Identifier: Apache-2.0
// Stops a compilation that creek cannot be part of with one message. Every header that includes no
// other of creek includes this one.
#pragma once

#if __cplusplus < 202002L
#error "creek needs C++20: compile with -std=c++20 (CMake: set CMAKE_CXX_STANDARD to 20)"
#define CREEK_STOP
#elif !defined(__cpp_exceptions)
#error "creek reports errors as exceptions: compile without -fno-exceptions"
#define CREEK_STOP
#endif
#ifdef CREEK_STOP
// A file that is not there ends the compilation here; all that follows would be hundreds of
// messages.
#include "creek_stops_this_compilation"
#endif
