# SPDX-License-Identifier: Apache-2.0
# The functions that every folder of creek uses: a module, the libraries made of them.
include_guard(GLOBAL)

# GCC 12 sees overlapping copies in std::string where there are none (GCC bug 105651). Clang 19 reports
# that libstdc++'s std::stable_sort calls std::get_temporary_buffer, which is deprecated.
set(CREEK_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                   $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                   $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)

# Where several sources are compiled at once, a name of one shadows that of another; the other builds
# keep that warning.
if(CMAKE_UNITY_BUILD)
  list(REMOVE_ITEM CREEK_WARNINGS -Wshadow)
endif()

# A sanitizer's finding ends the program, so that a test cannot pass over it. The instrumentation
# makes GCC report uninitialised variables that are none; the other builds keep that warning.
set(CREEK_SANITIZE_FLAGS)
set(CREEK_SANITIZE_USERS)
set(CREEK_SANITIZE_LINK)
if(CREEK_SANITIZE)
  set(CREEK_SANITIZE_FLAGS -fsanitize=${CREEK_SANITIZE} -fno-omit-frame-pointer)
  if(CREEK_SANITIZE MATCHES "address|undefined")
    list(APPEND CREEK_SANITIZE_FLAGS -fno-sanitize-recover=all)
  endif()
  if(CREEK_SANITIZE MATCHES "undefined")
    # Three checks take a third of the time to compile, half of it in vector code, and find little that
    # AddressSanitizer does not. The gate looks for undefined behaviour in the library alone, fuzzing and the
    # level `all` in applications, too.
    if(CREEK_SANITIZE MATCHES "fuzzer" OR CREEK_TEST_LEVEL STREQUAL "all")
      set(CREEK_SANITIZE_USERS -fno-sanitize=null,alignment)
    else()
      list(APPEND CREEK_SANITIZE_FLAGS -fno-sanitize=null,alignment,pointer-overflow)
      set(CREEK_SANITIZE_USERS -fno-sanitize=undefined)
    endif()
  endif()
  list(APPEND CREEK_WARNINGS $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # Its programs are large: gold links them in half the time.
  find_program(CREEK_LD_GOLD ld.gold)
  if(CREEK_LD_GOLD)
    set(CREEK_SANITIZE_LINK -fuse-ld=gold)
  endif()
endif()

# A parent project that names no build type would get creek without any optimisation.
set(CREEK_DEFAULT_OPTIMISATION)
set(CREEK_OPTIMISED $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
if(NOT PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CREEK_DEFAULT_OPTIMISATION -O2 -g)
  set(CREEK_OPTIMISED 1)
  message(STATUS "creek: no build type is set; creek itself is compiled with -O2 -g")
endif()

# Programs and libraries of optimised builds are hardened: checked calls of libc, guarded stack frames, marked
# targets of indirect jumps, addresses bound at the start and read-only from then on. Sanitizers check
# more and come without.
set(CREEK_HARDENING)
set(CREEK_LINK_HARDENING)
if(NOT CREEK_SANITIZE)
  set(CREEK_HARDENING $<${CREEK_OPTIMISED}:-U_FORTIFY_SOURCE> $<${CREEK_OPTIMISED}:-D_FORTIFY_SOURCE=2>
                      -fstack-protector-strong -fcf-protection)
  set(CREEK_LINK_HARDENING LINKER:-z,relro LINKER:-z,now)
endif()

# GCC collects its garbage often while it is small: a sixth of the time of a source full of templates, for a
# tenth of memory.
set(CREEK_COMPILER_MEMORY "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=500000>")

function(_creek_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE ${CREEK_DEFAULT_OPTIMISATION} ${CREEK_COMPILER_MEMORY} ${CREEK_WARNINGS}
                                           $<$<BOOL:${CREEK_WERROR}>:-Werror> ${CREEK_HARDENING}
                                           ${CREEK_SANITIZE_FLAGS})
  target_link_options(${target} PRIVATE ${CREEK_LINK_HARDENING} ${CREEK_SANITIZE_FLAGS}
                                        ${CREEK_SANITIZE_LINK})
endfunction()

# creek_install_rpath(target folder): lets a program or library that is installed to `folder` find creek's shared
# libraries, relative to itself, there and in the build tree, where they lie in one folder. The search path
# is final when the target is linked: CMake ends one that it is to change later with an empty entry, which
# means the current folder.
function(creek_install_rpath target folder)
  if(NOT BUILD_SHARED_LIBS)
    return()
  endif()
  set(built ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${built})
  get_target_property(type ${target} TYPE)
  get_target_property(here ${target} RUNTIME_OUTPUT_DIRECTORY)
  if(type STREQUAL "SHARED_LIBRARY")
    set(here ${built})
  elseif(NOT here)
    get_target_property(here ${target} BINARY_DIR)
  endif()
  file(RELATIVE_PATH installed_path ${folder} ${CMAKE_INSTALL_FULL_LIBDIR})
  file(RELATIVE_PATH built_path ${here} ${built})
  set(rpath "$ORIGIN/${installed_path}" "$ORIGIN/${built_path}")
  list(TRANSFORM rpath REPLACE "/$" "")
  list(REMOVE_DUPLICATES rpath)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}" BUILD_WITH_INSTALL_RPATH ON)
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

# creek_cold(target): compiles sources that parse, call and print with little optimisation, which
# takes half the time. AddressSanitizer looks at them without any; UndefinedBehaviorSanitizer, which takes as
# long again, at the libraries and at TPC-H.
function(creek_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(CREEK_SANITIZE)
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
  endif()
endfunction()

# creek_vector_sources(source...): sources that Highway compiles once for each instruction set, of which a unity file
# can hold only one. Their vectors are local values, and with AddressSanitizer up to two thirds of the time to compile
# go into the marks of where the scope of each one ends: at the level `gate` they have none.
function(creek_vector_sources)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(CREEK_SANITIZE MATCHES "address" AND NOT CREEK_TEST_LEVEL STREQUAL "all")
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize-address-use-after-scope)
  endif()
endfunction()

# Libraries that have something to link; a header-only one is needed to build creek, not to use it. nlohmann_json is
# named because the target that Conan generates for it has link libraries, all of them empty.
function(_creek_linkable out)
  set(linkable)
  foreach(library ${ARGN})
    if(library STREQUAL "nlohmann_json::nlohmann_json")
      continue()
    endif()
    get_target_property(type ${library} TYPE)
    get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
    if(NOT type STREQUAL "INTERFACE_LIBRARY" OR links)
      list(APPEND linkable ${library})
    endif()
  endforeach()
  set(${out} ${linkable} PARENT_SCOPE)
endfunction()

# creek_module(NAME core SOURCES a.cpp ... DEPENDS core tasking ... LIBRARIES fmt::fmt ... [LIBRARY tasking]
#              [ENTRY symbol] [BATCH sources] [COLD b.cpp ...] [APART c.cpp ...])
# Declares the module of this folder: target creek_NAME_headers with the include root `include/`
# and, through DEPENDS, those of the modules it may use (and no other: an undeclared include does
# not compile); if it has sources, targets with their objects, compiled as creek_NAME_private says.
# creek_libraries() makes them a part of libcreek_LIBRARY (default: a library of its own), which links
# PRIVATE_LIBRARIES, and LIBRARIES for those who use it, too. ENTRY: a program that links the library statically
# gets the part that defines this symbol, though it may not name it. BATCH: how many sources a unity build compiles
# at once, 8 if it is not given; more where what they include takes most of the time. COLD: sources of the start, of
# reports and of errors, which are compiled for size. APART: sources that most programs do without;
# creek_library_without_apart() makes a library without them, which is built sooner.
function(creek_module)
  cmake_parse_arguments(M "" "NAME;LIBRARY;ENTRY;BATCH" "SOURCES;DEPENDS;LIBRARIES;PRIVATE_LIBRARIES;COLD;APART" ${ARGN})
  if(NOT M_LIBRARY)
    set(M_LIBRARY ${M_NAME})
  endif()
  set(headers creek_${M_NAME}_headers)
  add_library(${headers} INTERFACE)
  target_compile_features(${headers} INTERFACE cxx_std_20)
  set_property(GLOBAL PROPERTY CREEK_LIBRARY_OF_${M_NAME} ${M_LIBRARY})
  set(requires)
  foreach(dep ${M_DEPENDS})
    target_link_libraries(${headers} INTERFACE creek_${dep}_headers)
    get_property(library GLOBAL PROPERTY CREEK_LIBRARY_OF_${dep})
    if(library AND NOT library STREQUAL M_LIBRARY)
      list(APPEND requires ${library})
    endif()
  endforeach()
  set(collected CREEK_${M_LIBRARY})
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_include_directories(${headers} INTERFACE
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
    set_property(GLOBAL APPEND PROPERTY ${collected}_ROOTS ${CMAKE_CURRENT_SOURCE_DIR}/include)
  endif()
  get_property(known GLOBAL PROPERTY CREEK_LIBRARIES)
  if(NOT M_LIBRARY IN_LIST known)
    set_property(GLOBAL APPEND PROPERTY CREEK_LIBRARIES ${M_LIBRARY})
  endif()
  set_property(GLOBAL APPEND PROPERTY ${collected}_MODULES ${M_NAME})
  set_property(GLOBAL APPEND PROPERTY ${collected}_REQUIRES ${requires})
  set_property(GLOBAL APPEND PROPERTY ${collected}_PUBLIC ${M_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY ${collected}_PRIVATE ${M_PRIVATE_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY ${collected}_ENTRY ${M_ENTRY})
  if(M_SOURCES)
    add_library(creek_${M_NAME}_private INTERFACE)
    target_include_directories(creek_${M_NAME}_private INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_link_libraries(creek_${M_NAME}_private INTERFACE creek_${M_NAME}_headers Threads::Threads ${M_LIBRARIES}
                          ${M_PRIVATE_LIBRARIES})
    set(sources)
    foreach(source ${M_SOURCES})
      cmake_path(ABSOLUTE_PATH source)
      cmake_path(RELATIVE_PATH source)
      list(APPEND sources ${source})
    endforeach()
    list(REMOVE_ITEM sources ${M_COLD} ${M_APART})
    _creek_objects(${M_NAME} objects ${sources})
    _creek_objects(${M_NAME} cold ${M_COLD})
    _creek_objects(${M_NAME} apart ${M_APART})
    if(TARGET creek_${M_NAME}_cold AND NOT CREEK_SANITIZE)
      target_compile_options(creek_${M_NAME}_cold PRIVATE $<${CREEK_OPTIMISED}:-Os>)
    endif()
  endif()
endfunction()

# The objects creek_MODULE_KIND of these sources, if there are any.
function(_creek_objects module kind)
  if(NOT ARGN)
    return()
  endif()
  set(objects creek_${module}_${kind})
  add_library(${objects} OBJECT ${ARGN})
  target_link_libraries(${objects} PRIVATE creek_${module}_private)
  # Position-independent, yet nobody may replace our functions: they can be inlined as ever. A section for
  # each lets the linker drop those that nobody calls.
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(M_BATCH)
    set_target_properties(${objects} PROPERTIES UNITY_BUILD_BATCH_SIZE ${M_BATCH})
  endif()
  target_compile_options(${objects} PRIVATE -fno-semantic-interposition -ffunction-sections -fdata-sections)
  _creek_options(${objects})
  get_property(library GLOBAL PROPERTY CREEK_LIBRARY_OF_${module})
  set_property(GLOBAL APPEND PROPERTY CREEK_${library}_OBJECTS ${objects})
endfunction()

# Makes a library creek_LIBRARY (alias creek::LIBRARY) for each that modules named, and creek::creek, which
# links all of them.
function(creek_libraries)
  get_property(libraries GLOBAL PROPERTY CREEK_LIBRARIES)
  foreach(library ${libraries})
    _creek_library(${library})
  endforeach()
  # A source makes it a target that `cmake --build --target creek` knows.
  add_library(creek INTERFACE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/README.md)
  add_library(creek::creek ALIAS creek)
  foreach(library ${libraries})
    target_link_libraries(creek INTERFACE creek_${library})
    add_dependencies(creek creek_${library})
  endforeach()
endfunction()

function(_creek_library library)
  foreach(part MODULES OBJECTS REQUIRES PUBLIC PRIVATE ENTRY)
    get_property(${part} GLOBAL PROPERTY CREEK_${library}_${part})
    set(${part} "${${part}}")
    list(REMOVE_DUPLICATES ${part})
  endforeach()
  set(sources)
  foreach(object ${OBJECTS})
    list(APPEND sources $<TARGET_OBJECTS:${object}>)
  endforeach()
  set(target creek_${library})
  add_library(${target} ${sources})
  add_library(creek::${library} ALIAS ${target})
  # Until 1.0 a minor version may change the binary interface.
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} POSITION_INDEPENDENT_CODE ON
    EXPORT_NAME ${library})
  _creek_options(${target})
  creek_install_rpath(${target} ${CMAKE_INSTALL_FULL_LIBDIR})
  # Worker threads and handlers of signals and fork() must not lose their code to dlclose():
  # whatever contains creek, the shared library or the plug-in of a user, stays in memory.
  if(BUILD_SHARED_LIBS)
    target_link_options(${target} PRIVATE LINKER:-z,nodelete)
  else()
    target_link_options(${target} INTERFACE LINKER:-z,nodelete)
    # An object holds more than one program needs, all the more if several sources are compiled as one.
    if(NOT CREEK_SANITIZE)
      target_link_options(${target} INTERFACE LINKER:--gc-sections)
    endif()
    if(ENTRY)
      target_link_options(${target} INTERFACE LINKER:--undefined=${ENTRY})
    endif()
  endif()
  _creek_linkable(PRIVATE ${PRIVATE})
  list(TRANSFORM REQUIRES PREPEND creek_)
  target_link_libraries(${target} PUBLIC ${REQUIRES} Threads::Threads ${PUBLIC} PRIVATE ${PRIVATE})
  foreach(module ${MODULES})
    target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:creek_${module}_headers>)
  endforeach()
  _creek_sanitized(${target})
endfunction()

# creek_library_without_apart(TARGET library...): a static library of what these hold but for the sources APART, for a
# program of this build that is to be there soon. Where libraries are shared, these themselves.
function(creek_library_without_apart target)
  if(BUILD_SHARED_LIBS)
    add_library(${target} INTERFACE)
    list(TRANSFORM ARGN PREPEND creek_)
    target_link_libraries(${target} INTERFACE ${ARGN})
    return()
  endif()
  set(sources)
  set(links)
  set(link_options)
  foreach(library ${ARGN})
    get_property(objects GLOBAL PROPERTY CREEK_${library}_OBJECTS)
    list(FILTER objects EXCLUDE REGEX "_apart$")
    foreach(object ${objects})
      list(APPEND sources $<TARGET_OBJECTS:${object}>)
    endforeach()
    get_property(modules GLOBAL PROPERTY CREEK_${library}_MODULES)
    get_property(libraries GLOBAL PROPERTY CREEK_${library}_PRIVATE)
    get_property(public GLOBAL PROPERTY CREEK_${library}_PUBLIC)
    list(TRANSFORM modules REPLACE "(.+)" "creek_\\1_headers")
    list(APPEND links ${modules} ${libraries} ${public})
    get_property(entry GLOBAL PROPERTY CREEK_${library}_ENTRY)
    list(TRANSFORM entry PREPEND LINKER:--undefined=)
    list(APPEND link_options ${entry})
  endforeach()
  list(REMOVE_DUPLICATES links)
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${sources})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PUBLIC ${links} Threads::Threads)
  target_link_options(${target} INTERFACE LINKER:--gc-sections ${link_options})
  _creek_sanitized(${target})
endfunction()

# Whoever links a library that is built for a sanitizer is built for it, too.
function(_creek_sanitized target)
  target_compile_options(${target} INTERFACE ${CREEK_SANITIZE_FLAGS} ${CREEK_SANITIZE_USERS})
  target_link_options(${target} INTERFACE ${CREEK_SANITIZE_FLAGS})
endfunction()
