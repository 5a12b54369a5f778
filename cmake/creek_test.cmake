# SPDX-License-Identifier: Apache-2.0
# What the tests are built with: creek_test(), and the two levels of checking.
#
# CREEK_TEST_LEVEL says what is built and run: `gate`, what every change has to pass and what guards the
# promises of the README, or `all`, with what only few changes can break besides: peers, Netlib, 64-bit
# integers, oracles that need wheels, older instruction sets, long runs.
include_guard(GLOBAL)

set(CREEK_TEST_LEVEL gate CACHE STRING "Tests to build and run: gate or all")
set_property(CACHE CREEK_TEST_LEVEL PROPERTY STRINGS gate all)
if(NOT CREEK_TEST_LEVEL MATCHES "^(gate|all)$")
  message(FATAL_ERROR "CREEK_TEST_LEVEL must be gate or all, not '${CREEK_TEST_LEVEL}'")
endif()
if(CREEK_TEST_LEVEL STREQUAL "all")
  set(CREEK_TEST_ALL ON)
else()
  set(CREEK_TEST_ALL OFF)
endif()

# A process for each case finds what depends on the cases before it, and takes most of the time: nearly all
# cases take less time than their process.
option(CREEK_TEST_CASES "Let ctest run every case in a process of its own" OFF)

# Options of the test programs' own code. It is mostly run once, and compiled for longer than it runs. The
# library under test, and what it inlines where that is what is tested (OPTIMIZED), is compiled as it is
# for users. With a sanitizer a test is not optimised at all, and one that runs for long a little. The others
# call AddressSanitizer's checks, which takes a third less time to compile than checks in line.
# UndefinedBehaviorSanitizer looks at the library alone, in which it costs a third of what it does in tests. At the
# level `gate` sanitizers look at half of what is tested for all combinations: every pair of a scheduler, a deque
# and an idle policy, and one type of numbers for each precision and each kind (CREEK_TEST_FEW_CASES).
# Assertions name their file relative to the checkout, so that the compiler's cache serves another checkout.
set(_creek_optimized_test_options -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CREEK_SANITIZE MATCHES "undefined")
  list(APPEND _creek_optimized_test_options -fno-sanitize=undefined)
endif()
if(CREEK_SANITIZE AND NOT CREEK_TEST_ALL)
  list(APPEND _creek_optimized_test_options -DCREEK_TEST_FEW_CASES)
endif()
set(_creek_test_options ${_creek_optimized_test_options} -Og $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(CREEK_SANITIZE)
  list(APPEND _creek_test_options -O0)
  list(APPEND _creek_optimized_test_options -Og)
endif()
if(CREEK_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND _creek_test_options --param=asan-instrumentation-with-call-threshold=0)
endif()

# Headers that nearly every test includes, compiled once for each of the two sets of options.
function(_creek_test_headers name)
  if(TARGET ${name})
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tests/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/tests/${name}.cpp)
  target_link_libraries(${name} PRIVATE creek::creek GTest::gtest GTest::gmock)
  _creek_options(${name})
  target_compile_options(${name} PRIVATE -Wno-shadow ${ARGN})
  target_precompile_headers(${name} PRIVATE <gmock/gmock.h> <gtest/gtest.h> <algorithm> <atomic> <chrono>
    <cstdint> <filesystem> <fstream> <functional> <map> <memory> <numeric> <random> <span> <sstream>
    <string> <string_view> <thread> <vector>)
endfunction()

# creek_test(NAME core_locks SOURCES locks_test.cpp [LIBRARIES ...] [LABELS ...] [TIMEOUT seconds]
#            [ENVIRONMENT NAME=value ...] [RUN_SERIAL] [ALL] [OPTIMIZED|COMPUTES]
#            [THREADS|ONE_THREAD] [INSTRUCTION_SETS])
# A GoogleTest program that ctest runs as NAME, or each of its cases as NAME.Suite.Case (CREEK_TEST_CASES),
# with its results in test-results/NAME.xml of the build. TIMEOUT (300) is for all of an optimised build;
# sanitizers get twice as long. RUN_SERIAL keeps a test
# that measures time or needs every core from running beside others. ALL: only at that level. OPTIMIZED:
# compiled like the library, because what it tests is inlined into it. COMPUTES: its own code, most often the
# oracle, runs for longer under a sanitizer than it takes to compile, and is optimised there. THREADS: it is
# about threads that meet, and ThreadSanitizer's at the level `gate`; at the level `all` every test is but those that say ONE_THREAD,
# in which no two threads share memory. INSTRUCTION_SETS: at the level `all` its cases run once more as
# NAME.AVX2, NAME.SSE4 and NAME.SCALAR, with the vector code for these; what the processor lacks runs as the
# next older one.
function(creek_test)
  cmake_parse_arguments(T "RUN_SERIAL;ALL;OPTIMIZED;COMPUTES;THREADS;ONE_THREAD;INSTRUCTION_SETS" "NAME;TIMEOUT"
                        "SOURCES;LIBRARIES;LABELS;ENVIRONMENT" ${ARGN})
  if(T_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "creek_test(${T_NAME}): unknown arguments ${T_UNPARSED_ARGUMENTS}")
  endif()
  if(T_ALL AND NOT CREEK_TEST_ALL)
    return()
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  if(CREEK_SANITIZE)
    math(EXPR T_TIMEOUT "2 * ${T_TIMEOUT}")
  endif()
  set(properties TIMEOUT ${T_TIMEOUT})
  if(T_RUN_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  set(headers creek_test_headers)
  set(options ${_creek_test_options})
  if(T_OPTIMIZED OR (T_COMPUTES AND CREEK_SANITIZE))
    set(headers creek_optimized_test_headers)
    set(options ${_creek_optimized_test_options})
  endif()
  _creek_test_headers(${headers} ${options})
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE creek::creek GTest::gtest GTest::gtest_main GTest::gmock
                        ${T_LIBRARIES})
  target_include_directories(${T_NAME} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests)
  _creek_options(${T_NAME})
  creek_unity(${T_NAME})
  target_compile_options(${T_NAME} PRIVATE ${options})
  target_precompile_headers(${T_NAME} REUSE_FROM ${headers})
  if(CREEK_SANITIZE STREQUAL "thread" AND (T_ONE_THREAD OR NOT (T_THREADS OR CREEK_TEST_ALL)))
    set_target_properties(${T_NAME} PROPERTIES EXCLUDE_FROM_ALL TRUE)  # to be built by name
    return()
  endif()
  if(CREEK_TEST_CASES)
    gtest_discover_tests(${T_NAME} TEST_PREFIX ${T_NAME}. DISCOVERY_TIMEOUT 60
                         PROPERTIES ${properties} LABELS "${T_LABELS}" ENVIRONMENT "${T_ENVIRONMENT}")
  else()
    set(results ${PROJECT_BINARY_DIR}/test-results/${T_NAME}.xml)
    add_test(NAME ${T_NAME} COMMAND ${CMAKE_COMMAND} -E env GTEST_OUTPUT=xml:${results} $<TARGET_FILE:${T_NAME}>)
    set_tests_properties(${T_NAME} PROPERTIES ${properties} LABELS "${T_LABELS}"
                         ENVIRONMENT "${T_ENVIRONMENT}")
  endif()
  if(NOT T_INSTRUCTION_SETS)
    return()
  endif()
  target_sources(${T_NAME} PRIVATE
                 ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests/support/instruction_sets.cpp)
  target_link_libraries(${T_NAME} PRIVATE PkgConfig::HWY)
  if(CREEK_TEST_ALL AND NOT CREEK_SANITIZE)
    foreach(instructions AVX2 SSE4 SCALAR)
      add_test(NAME ${T_NAME}.${instructions} COMMAND ${T_NAME})
      set_tests_properties(${T_NAME}.${instructions} PROPERTIES ${properties} LABELS "${T_LABELS}"
        ENVIRONMENT "CREEK_TEST_INSTRUCTIONS=${instructions};${T_ENVIRONMENT}")
    endforeach()
  endif()
endfunction()
