# SPDX-License-Identifier: Apache-2.0
# The functions that every folder of creek uses: a module, the library made of them, a test.
include_guard(GLOBAL)

# GCC 12 sees overlapping copies in std::string where there are none (GCC bug 105651).
set(CREEK_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                   $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

# Where several sources are compiled at once, a name of one shadows that of another; the other builds
# keep that warning.
if(CMAKE_UNITY_BUILD)
  list(REMOVE_ITEM CREEK_WARNINGS -Wshadow)
endif()

# A sanitizer's finding ends the program, so that a test cannot pass over it. The instrumentation
# makes GCC report uninitialised variables that are none; the other builds keep that warning.
set(CREEK_SANITIZE_FLAGS)
if(CREEK_SANITIZE)
  set(CREEK_SANITIZE_FLAGS -fsanitize=${CREEK_SANITIZE} -fno-omit-frame-pointer)
  if(CREEK_SANITIZE MATCHES "address|undefined")
    list(APPEND CREEK_SANITIZE_FLAGS -fno-sanitize-recover=all)
  endif()
  list(APPEND CREEK_WARNINGS $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

function(_creek_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE ${CREEK_WARNINGS} $<$<BOOL:${CREEK_WERROR}>:-Werror>
                                           ${CREEK_SANITIZE_FLAGS})
  target_link_options(${target} PRIVATE ${CREEK_SANITIZE_FLAGS})
endfunction()

# creek_unity(target [batch]): compiles the sources of a target that is nobody's inner loop several at once,
# for what they include takes longer than what they say (CLI11, nlohmann-json, GoogleTest). A name of one
# source may then shadow that of another.
function(creek_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  if(ARGC GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${ARGV1})
  endif()
  target_compile_options(${target} PRIVATE -Wno-shadow)
endfunction()

# Libraries that have something to link; a header-only one is needed to build creek, not to use it.
function(_creek_linkable out)
  set(linkable)
  foreach(library ${ARGN})
    get_target_property(type ${library} TYPE)
    get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
    if(NOT type STREQUAL "INTERFACE_LIBRARY" OR links)
      list(APPEND linkable ${library})
    endif()
  endforeach()
  set(${out} ${linkable} PARENT_SCOPE)
endfunction()

# creek_module(NAME core SOURCES a.cpp ... DEPENDS core tasking ... LIBRARIES hwloc::hwloc ...)
# Declares the module of this folder: target creek_NAME_headers with the include root `include/`
# and, through DEPENDS, those of the modules it may use (and no other: an undeclared include does
# not compile); target creek_NAME_objects with its sources, if it has any. Alias creek::NAME.
function(creek_module)
  cmake_parse_arguments(M "" "NAME" "SOURCES;DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  set(headers creek_${M_NAME}_headers)
  add_library(${headers} INTERFACE)
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_include_directories(${headers} INTERFACE
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
    set_property(GLOBAL APPEND PROPERTY CREEK_INCLUDE_ROOTS ${CMAKE_CURRENT_SOURCE_DIR}/include)
  endif()
  target_compile_features(${headers} INTERFACE cxx_std_20)
  foreach(dep ${M_DEPENDS})
    target_link_libraries(${headers} INTERFACE creek_${dep}_headers)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY CREEK_MODULES ${M_NAME})
  set_property(GLOBAL APPEND PROPERTY CREEK_LIBRARIES ${M_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY CREEK_PRIVATE_LIBRARIES ${M_PRIVATE_LIBRARIES})
  if(M_SOURCES)
    add_library(creek_${M_NAME}_objects OBJECT ${M_SOURCES})
    target_link_libraries(creek_${M_NAME}_objects
      PUBLIC ${headers} Threads::Threads PRIVATE ${M_LIBRARIES} ${M_PRIVATE_LIBRARIES})
    target_include_directories(creek_${M_NAME}_objects PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
    # Position-independent, yet nobody may replace our functions: they can be inlined as ever.
    set_target_properties(creek_${M_NAME}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(creek_${M_NAME}_objects PRIVATE -fno-semantic-interposition)
    _creek_options(creek_${M_NAME}_objects)
    set_property(GLOBAL APPEND PROPERTY CREEK_OBJECTS creek_${M_NAME}_objects)
  endif()
endfunction()

# Makes the one library `creek` (alias creek::creek) of all modules declared so far, and a target
# creek::MODULE for each of them.
function(creek_library)
  get_property(objects GLOBAL PROPERTY CREEK_OBJECTS)
  get_property(modules GLOBAL PROPERTY CREEK_MODULES)
  get_property(libraries GLOBAL PROPERTY CREEK_LIBRARIES)
  get_property(private_libraries GLOBAL PROPERTY CREEK_PRIVATE_LIBRARIES)
  list(REMOVE_DUPLICATES libraries)
  list(REMOVE_DUPLICATES private_libraries)
  set(sources)
  foreach(object ${objects})
    list(APPEND sources $<TARGET_OBJECTS:${object}>)
  endforeach()
  _creek_linkable(private_libraries ${private_libraries})
  add_library(creek ${sources})
  add_library(creek::creek ALIAS creek)
  # Until 1.0 a minor version may change the binary interface.
  set_target_properties(creek PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} POSITION_INDEPENDENT_CODE ON)
  _creek_options(creek)
  target_compile_options(creek INTERFACE ${CREEK_SANITIZE_FLAGS})
  if(CREEK_SANITIZE MATCHES "undefined")
    # In tests and applications these two checks take a fifth of the time to compile, and find what
    # AddressSanitizer finds too.
    target_compile_options(creek INTERFACE -fno-sanitize=null,alignment)
  endif()
  target_link_options(creek INTERFACE ${CREEK_SANITIZE_FLAGS})
  # Worker threads and handlers of signals and fork() must not lose their code to dlclose():
  # whatever contains creek, the shared library or the plug-in of a user, stays in memory.
  if(BUILD_SHARED_LIBS)
    target_link_options(creek PRIVATE LINKER:-z,nodelete)
  else()
    target_link_options(creek INTERFACE LINKER:-z,nodelete)
  endif()
  target_link_libraries(creek PUBLIC Threads::Threads ${libraries} PRIVATE ${private_libraries})
  foreach(module ${modules})
    target_link_libraries(creek PUBLIC $<BUILD_INTERFACE:creek_${module}_headers>)
    add_library(creek_${module} INTERFACE)
    set_target_properties(creek_${module} PROPERTIES EXPORT_NAME ${module})
    target_link_libraries(creek_${module} INTERFACE creek)
    add_library(creek::${module} ALIAS creek_${module})
  endforeach()
endfunction()

# creek_test(NAME core_locks SOURCES locks_test.cpp [LIBRARIES ...] [LABELS ...] [TIMEOUT seconds]
#            [ENVIRONMENT NAME=value ...] [RUN_SERIAL] [ONE_THREAD] [INSTRUCTION_SETS])
# A GoogleTest binary whose cases ctest runs one by one, each as NAME.Suite.Case. TIMEOUT (120) is
# for one case of an optimised build; sanitizers get five times as long. RUN_SERIAL keeps a test
# that measures time or needs every core from running beside others. ONE_THREAD: no two threads share
# memory in it, so there is no such test for ThreadSanitizer. INSTRUCTION_SETS: all of its cases run
# once more as NAME.AVX2, NAME.SSE4 and NAME.SCALAR, with the vector code for these; what the processor
# lacks runs as the next older one.
function(creek_test)
  cmake_parse_arguments(T "RUN_SERIAL;ONE_THREAD;INSTRUCTION_SETS" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS;ENVIRONMENT" ${ARGN})
  if(T_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "creek_test(${T_NAME}): unknown arguments ${T_UNPARSED_ARGUMENTS}")
  endif()
  if(T_ONE_THREAD AND CREEK_SANITIZE STREQUAL "thread")
    return()
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  if(CREEK_SANITIZE)
    math(EXPR T_TIMEOUT "5 * ${T_TIMEOUT}")
  endif()
  set(properties TIMEOUT ${T_TIMEOUT})
  if(T_RUN_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  foreach(property LABELS ENVIRONMENT)
    if(T_${property})
      list(APPEND properties ${property} "${T_${property}}")
    endif()
  endforeach()
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE creek::creek GTest::gtest GTest::gtest_main GTest::gmock
                        ${T_LIBRARIES})
  target_include_directories(${T_NAME} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests)
  _creek_options(${T_NAME})
  creek_unity(${T_NAME})
  gtest_discover_tests(${T_NAME} TEST_PREFIX ${T_NAME}. DISCOVERY_TIMEOUT 60
                       PROPERTIES ${properties})
  if(NOT T_INSTRUCTION_SETS)
    return()
  endif()
  target_sources(${T_NAME} PRIVATE
                 ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests/support/instruction_sets.cpp)
  target_link_libraries(${T_NAME} PRIVATE PkgConfig::HWY)
  if(NOT CREEK_SANITIZE)
    foreach(instructions AVX2 SSE4 SCALAR)
      add_test(NAME ${T_NAME}.${instructions} COMMAND ${T_NAME})
      set_tests_properties(${T_NAME}.${instructions} PROPERTIES ${properties} TIMEOUT 300
        ENVIRONMENT "CREEK_TEST_INSTRUCTIONS=${instructions};${T_ENVIRONMENT}")
    endforeach()
  endif()
endfunction()
