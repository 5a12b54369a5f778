# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down: the library and its headers, the CMake package `creek` (with
# version file), the pkg-config module `creek`, the tool. The tree may be moved as a whole: no file
# in it names the prefix.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

# The libraries whose absence a consumer's link would notice: all of them behind a static creek,
# whether or not anybody thinks of `pkg-config --static`; the public ones behind a shared one.
function(_creek_consumer_libraries out)
  get_target_property(libraries creek INTERFACE_LINK_LIBRARIES)
  if(BUILD_SHARED_LIBS)
    list(FILTER libraries EXCLUDE REGEX "LINK_ONLY")
  endif()
  list(FILTER libraries EXCLUDE REGEX "BUILD_INTERFACE")
  list(TRANSFORM libraries REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1")
  list(REMOVE_DUPLICATES libraries)
  set(${out} ${libraries} PARENT_SCOPE)
endfunction()

# Sets, in the caller's scope: CREEK_FIND_CALLS for creek-config.cmake; CREEK_PC_MODULES and
# CREEK_PC_FLAGS for creek.pc.
function(_creek_consumer_dependencies)
  set(calls)
  set(modules)
  set(flags)
  if(NOT BUILD_SHARED_LIBS)
    list(APPEND flags -Wl,-z,nodelete)  # as the CMake target says; see creek_library()
  endif()
  _creek_consumer_libraries(libraries)
  foreach(library ${libraries})
    set(row ${CREEK_CONSUMER_DEPENDENCIES})
    list(FILTER row INCLUDE REGEX "^${library}\\|")
    if(NOT row)
      message(FATAL_ERROR "creek links ${library}, of which CREEK_CONSUMER_DEPENDENCIES has no row")
    endif()
    string(REPLACE "|" ";" row "${row}")
    list(GET row 1 call)
    list(GET row 2 pc)
    list(APPEND calls "${call}")
    if(pc MATCHES "^-")
      list(APPEND flags ${pc})
    else()
      list(APPEND modules ${pc})
    endif()
  endforeach()
  list(JOIN calls "\n" calls)
  list(JOIN modules " " modules)
  list(JOIN flags " " flags)
  set(CREEK_FIND_CALLS "${calls}" PARENT_SCOPE)
  set(CREEK_PC_MODULES "${modules}" PARENT_SCOPE)
  set(CREEK_PC_FLAGS "${flags}" PARENT_SCOPE)
endfunction()

function(_creek_install_targets)
  get_property(modules GLOBAL PROPERTY CREEK_MODULES)
  list(TRANSFORM modules PREPEND creek_)
  install(TARGETS creek ${modules} EXPORT creek-targets
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT creek-targets NAMESPACE creek:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/creek)
  get_property(roots GLOBAL PROPERTY CREEK_INCLUDE_ROOTS)
  foreach(root ${roots})
    install(DIRECTORY ${root}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
            PATTERN "*.md" EXCLUDE)
  endforeach()
  if(TARGET creek_tool)
    file(RELATIVE_PATH to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(creek_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${to_lib}")
    install(TARGETS creek_tool)
    # The wheel of another Arrow stays where it is: only a system's Arrow is there wherever the tree goes.
    if(TARGET creek_parquet AND CREEK_ARROW_IS_PACKAGED)
      install(TARGETS creek_parquet LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/creek)
    endif()
  endif()
endfunction()

function(creek_install)
  _creek_install_targets()
  _creek_consumer_dependencies()
  set(generated ${PROJECT_BINARY_DIR}/install)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/creek)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/creek-config.cmake.in ${generated}/creek-config.cmake
    INSTALL_DESTINATION ${package_dir})
  # 0.1 is not a promise to 0.2.
  write_basic_package_version_file(${generated}/creek-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${generated}/creek-config.cmake ${generated}/creek-config-version.cmake
          DESTINATION ${package_dir})

  file(RELATIVE_PATH CREEK_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" CREEK_PC_PREFIX "${CREEK_PC_PREFIX}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/creek.pc.in ${generated}/creek.pc @ONLY)
  install(FILES ${generated}/creek.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endfunction()
