# SPDX-License-Identifier: Apache-2.0
# The install tree: for each component its library, headers, CMake file and pkg-config module
# (creek-tasking.pc); for all of them the CMake package `creek` with its version file, and creek.pc; the tool.
# The tree may be moved as a whole: no file in it names the prefix.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

# Sets `out` to the libraries whose absence a consumer's link would notice: all of them behind a static
# library, whether or not anybody thinks of `pkg-config --static`; the public ones behind a shared one.
function(_creek_consumer_libraries target out)
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  if(BUILD_SHARED_LIBS)
    list(FILTER libraries EXCLUDE REGEX "LINK_ONLY")
  endif()
  list(FILTER libraries EXCLUDE REGEX "BUILD_INTERFACE")
  list(TRANSFORM libraries REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1")
  list(REMOVE_DUPLICATES libraries)
  set(${out} ${libraries} PARENT_SCOPE)
endfunction()

# Sets, in the caller's scope, for one component: CREEK_FIND_CALLS for its CMake file;
# CREEK_PC_MODULES and CREEK_PC_FLAGS for its pkg-config module.
function(_creek_consumer_dependencies component)
  set(calls)
  set(modules)
  # As the CMake target says; see _creek_library().
  get_target_property(flags creek_${component} INTERFACE_LINK_OPTIONS)
  if(NOT flags)
    set(flags "")
  endif()
  list(TRANSFORM flags REPLACE "^LINKER:" "-Wl,")
  _creek_consumer_libraries(creek_${component} libraries)
  foreach(library ${libraries})
    if(library MATCHES "^creek_(.*)")
      list(APPEND calls "creek_include(${CMAKE_MATCH_1})")
      list(APPEND modules "creek-${CMAKE_MATCH_1} = ${PROJECT_VERSION}")
      continue()
    endif()
    set(row ${CREEK_CONSUMER_DEPENDENCIES})
    list(FILTER row INCLUDE REGEX "^${library}\\|")
    if(NOT row)
      message(FATAL_ERROR "creek_${component} links ${library}, for which CREEK_CONSUMER_DEPENDENCIES has no row")
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
  list(JOIN modules ", " modules)
  list(JOIN flags " " flags)
  set(CREEK_FIND_CALLS "${calls}" PARENT_SCOPE)
  set(CREEK_PC_MODULES "${modules}" PARENT_SCOPE)
  set(CREEK_PC_FLAGS "${flags}" PARENT_SCOPE)
endfunction()

# Writes and installs the pkg-config module `name`.
function(_creek_install_pkgconfig name libs)
  file(RELATIVE_PATH CREEK_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" CREEK_PC_PREFIX "${CREEK_PC_PREFIX}")
  set(CREEK_PC_NAME ${name})
  set(CREEK_PC_LIBS "${libs}")
  set(generated ${PROJECT_BINARY_DIR}/install/${name}.pc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/creek.pc.in ${generated} @ONLY)
  install(FILES ${generated} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

function(_creek_install_component component package_dir)
  install(TARGETS creek_${component} EXPORT creek-${component}-targets
          RUNTIME COMPONENT libraries
          LIBRARY COMPONENT libraries NAMELINK_COMPONENT development
          ARCHIVE COMPONENT development
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT creek-${component}-targets NAMESPACE creek:: DESTINATION ${package_dir}
          COMPONENT development)
  get_property(roots GLOBAL PROPERTY CREEK_${component}_ROOTS)
  foreach(root ${roots})
    install(DIRECTORY ${root}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
            PATTERN "*.md" EXCLUDE)
  endforeach()
  _creek_consumer_dependencies(${component})
  set(CREEK_COMPONENT ${component})
  set(generated ${PROJECT_BINARY_DIR}/install/creek-${component}.cmake)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/creek-component.cmake.in ${generated} @ONLY)
  install(FILES ${generated} DESTINATION ${package_dir} COMPONENT development)
  _creek_install_pkgconfig(creek-${component}
    "Libs: -L\${libdir} -lcreek_${component} ${CREEK_PC_FLAGS}\nCflags: -I\${includedir}")
endfunction()

function(_creek_install_tool)
  creek_install_rpath(creek_tool ${CMAKE_INSTALL_FULL_BINDIR})
  install(TARGETS creek_tool COMPONENT tool)
  # The wheel of another Arrow stays where it is: only a system's Arrow is there wherever the tree goes.
  if(TARGET creek_parquet AND CREEK_ARROW_IS_PACKAGED)
    install(TARGETS creek_parquet LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/creek COMPONENT tool)
  endif()
endfunction()

# The package that all components make.
function(_creek_install_package libraries package_dir)
  set(generated ${PROJECT_BINARY_DIR}/install)
  set(CREEK_INSTALLED ${libraries})
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/creek-config.cmake.in ${generated}/creek-config.cmake
    INSTALL_DESTINATION ${package_dir})
  # 0.1 is not a promise to 0.2.
  write_basic_package_version_file(${generated}/creek-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${generated}/creek-config.cmake ${generated}/creek-config-version.cmake
                ${PROJECT_SOURCE_DIR}/cmake/creek_find_highway.cmake
          DESTINATION ${package_dir} COMPONENT development)
  list(TRANSFORM libraries REPLACE "(.+)" "creek-\\1 = ${PROJECT_VERSION}")
  list(JOIN libraries ", " CREEK_PC_MODULES)
  _creek_install_pkgconfig(creek "")
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT libraries)
endfunction()

function(creek_install)
  get_property(libraries GLOBAL PROPERTY CREEK_LIBRARIES)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/creek)
  foreach(component ${libraries})
    _creek_install_component(${component} ${package_dir})
  endforeach()
  _creek_install_package("${libraries}" ${package_dir})
  if(TARGET creek_tool)
    _creek_install_tool()
  endif()
  foreach(pages docs examples)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR}
            COMPONENT documentation)
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
          DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
endfunction()
