# SPDX-License-Identifier: Apache-2.0
# cmake -D PORT_DIR=... [-D NAME=VALUE ...] -P build_port.cmake: runs a port file as vcpkg does. The functions that it
# calls are stand-ins: they do what vcpkg documents, for Linux, as far as creek's port needs it. The variables that
# vcpkg sets for a port come from the command line: PORT, FEATURES, TARGET_TRIPLET, VCPKG_LIBRARY_LINKAGE,
# VCPKG_BUILD_TYPE (release, or undefined for both builds), VCPKG_CMAKE_CONFIGURE_OPTIONS, CURRENT_BUILDTREES_DIR,
# CURRENT_PACKAGES_DIR, and HOST_PORTS, the host dependencies of the manifest.
cmake_minimum_required(VERSION 3.25)

# For each build: the suffix of its folder, its CMAKE_BUILD_TYPE, and the package folder it is installed to.
set(builds rel)
if(NOT DEFINED VCPKG_BUILD_TYPE)
  list(APPEND builds dbg)
endif()
set(type_rel Release)
set(type_dbg Debug)
set(prefix_rel ${CURRENT_PACKAGES_DIR})
set(prefix_dbg ${CURRENT_PACKAGES_DIR}/debug)

# Stops if the caller passes arguments that the function of vcpkg does not take.
macro(check_arguments function)
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()

# execute(COMMAND ...): sets `output`, or stops and prints it if the command fails.
function(execute)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" COMMAND)  # keeps arguments that are lists
  execute_process(COMMAND ${arg_COMMAND} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(NOTICE "${output}")
    list(JOIN arg_COMMAND " " command)
    message(FATAL_ERROR "${command}: exit status ${status}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(vcpkg_find_acquire_program program)
  if(NOT program STREQUAL "PKGCONFIG")
    message(FATAL_ERROR "vcpkg_find_acquire_program: no stand-in for ${program}")
  endif()
  find_program(${program} pkg-config REQUIRED)
  set(${program} "${${program}}" PARENT_SCOPE)
endfunction()

if("vcpkg-cmake" IN_LIST HOST_PORTS)
  # Fails, where vcpkg warns, if the project does not use one of OPTIONS that MAYBE_UNUSED_VARIABLES does not name.
  function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH"
                          "OPTIONS;OPTIONS_RELEASE;OPTIONS_DEBUG;MAYBE_UNUSED_VARIABLES")
    check_arguments(vcpkg_cmake_configure)
    string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic shared)
    set(options_rel ${arg_OPTIONS_RELEASE})
    set(options_dbg ${arg_OPTIONS_DEBUG})
    foreach(build IN LISTS builds)
      set(folder ${CURRENT_BUILDTREES_DIR}/${TARGET_TRIPLET}-${build})
      file(REMOVE_RECURSE ${folder})
      execute(COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${folder} -G Ninja -DCMAKE_BUILD_TYPE=${type_${build}}
              -DCMAKE_INSTALL_PREFIX=${prefix_${build}} -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_BINDIR=bin
              -DBUILD_SHARED_LIBS=${shared} -DCMAKE_ERROR_ON_ABSOLUTE_INSTALL_DESTINATION=ON
              ${arg_OPTIONS} ${options_${build}} ${VCPKG_CMAKE_CONFIGURE_OPTIONS})
      string(REGEX MATCH "variables were not used by the project:\n\n(    [^\n]*\n)+" unused "${output}")
      foreach(option IN LISTS arg_OPTIONS options_${build})
        string(REGEX REPLACE "^-D([^:=]*).*" "\\1" name "${option}")
        if(unused MATCHES "    ${name}\n" AND NOT name IN_LIST arg_MAYBE_UNUSED_VARIABLES)
          message(FATAL_ERROR "vcpkg_cmake_configure: ${arg_SOURCE_PATH} does not use ${name}")
        endif()
      endforeach()
    endforeach()
  endfunction()

  function(vcpkg_cmake_install)
    cmake_parse_arguments(PARSE_ARGV 0 arg "DISABLE_PARALLEL;ADD_BIN_TO_PATH" "" "")
    check_arguments(vcpkg_cmake_install)
    foreach(build IN LISTS builds)
      execute(COMMAND ${CMAKE_COMMAND} --build ${CURRENT_BUILDTREES_DIR}/${TARGET_TRIPLET}-${build} --target install)
    endforeach()
  endfunction()
endif()

if("vcpkg-cmake-config" IN_LIST HOST_PORTS)
  # Moves the CMake package to share/, two folders below the prefix, where the debug build's files join it.
  function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
    check_arguments(vcpkg_cmake_config_fixup)
    set(share ${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME})
    foreach(build IN LISTS builds)
      set(config ${prefix_${build}}/${arg_CONFIG_PATH})
      if(NOT IS_DIRECTORY ${config})
        message(FATAL_ERROR "vcpkg_cmake_config_fixup: ${config} does not exist")
      endif()
      if(build STREQUAL "rel")
        file(GLOB files ${config}/*)
      else()
        file(GLOB files ${config}/*-debug.cmake)
      endif()
      file(COPY ${files} DESTINATION ${share})
      file(REMOVE_RECURSE ${prefix_${build}}/lib/cmake)
    endforeach()
    file(GLOB_RECURSE files ${share}/*.cmake)
    foreach(file IN LISTS files)
      file(READ ${file} text)
      if(file MATCHES "-debug\\.cmake$")
        string(REPLACE "\${_IMPORT_PREFIX}/lib" "\${_IMPORT_PREFIX}/debug/lib" text "${text}")
      endif()
      string(REGEX REPLACE "(get_filename_component\\(_IMPORT_PREFIX \"[^\"]*\" PATH\\)\n)+"
             "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}/../..\" ABSOLUTE)\n" text "${text}")
      string(REGEX REPLACE "(PACKAGE_PREFIX_DIR \"\\\${CMAKE_CURRENT_LIST_DIR}/)[./]*\"" "\\1../..\"" text "${text}")
      file(WRITE ${file} "${text}")
    endforeach()
  endfunction()
endif()

# Makes the prefix relative to the file, and checks that pkg-config finds what each module requires.
function(vcpkg_fixup_pkgconfig)
  cmake_parse_arguments(PARSE_ARGV 0 arg "SKIP_CHECK" "" "")
  check_arguments(vcpkg_fixup_pkgconfig)
  vcpkg_find_acquire_program(PKGCONFIG)
  foreach(build IN LISTS builds)
    set(folder ${prefix_${build}}/lib/pkgconfig)
    file(GLOB files ${folder}/*.pc)
    foreach(file IN LISTS files)
      file(READ ${file} text)
      string(REGEX REPLACE "(^|\n)prefix=[^\n]*" "\\1prefix=\${pcfiledir}/../.." text "${text}")
      if(build STREQUAL "dbg")
        string(REPLACE "\${prefix}/include" "\${prefix}/../include" text "${text}")
      endif()
      file(WRITE ${file} "${text}")
    endforeach()
    foreach(file IN LISTS files)
      get_filename_component(module ${file} NAME_WLE)
      execute(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${PKGCONFIG} --print-errors --exists ${module})
    endforeach()
  endforeach()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "COMMENT" "FILE_LIST")
  check_arguments(vcpkg_install_copyright)
  file(INSTALL ${arg_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT} RENAME copyright)
endfunction()

file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR})
include(${PORT_DIR}/portfile.cmake)
