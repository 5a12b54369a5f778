# SPDX-License-Identifier: Apache-2.0
# The install tree: for each component its library, headers, CMake file and pkg-config module
# (creek-tasking.pc); for all of them the CMake package `creek` with its version file, and creek.pc; the tool.
# The tree may be moved as a whole: no file in it names the prefix.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

# Sets `public` to the libraries that a consumer of `target` always links, and `private` to those that it links only
# because `target` is static.
function(_creek_consumer_libraries target public private)
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  list(FILTER libraries EXCLUDE REGEX "BUILD_INTERFACE")
  list(REMOVE_DUPLICATES libraries)
  set(link_only ${libraries})
  list(FILTER libraries EXCLUDE REGEX "LINK_ONLY")
  list(FILTER link_only INCLUDE REGEX "LINK_ONLY")
  list(TRANSFORM link_only REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1")
  if(BUILD_SHARED_LIBS)
    set(link_only)
  endif()
  set(${public} ${libraries} PARENT_SCOPE)
  set(${private} ${link_only} PARENT_SCOPE)
endfunction()

# Sets `call` to the CMake call that finds `library`, and `pc` to its pkg-config module, or to its linker flag if it
# has no module.
function(_creek_consumer_row component library call pc)
  if(library MATCHES "^creek_(.*)")
    set(${call} "creek_include(${CMAKE_MATCH_1})" PARENT_SCOPE)
    set(${pc} "creek-${CMAKE_MATCH_1} = ${PROJECT_VERSION}" PARENT_SCOPE)
    return()
  endif()
  set(row ${CREEK_CONSUMER_DEPENDENCIES})
  list(FILTER row INCLUDE REGEX "^${library}\\|")
  if(NOT row)
    message(FATAL_ERROR "creek_${component} links ${library}, for which CREEK_CONSUMER_DEPENDENCIES has no row")
  endif()
  string(REPLACE "|" ";" row "${row}")
  list(GET row 1 found_by)
  list(GET row 2 linked_by)
  set(${call} "${found_by}" PARENT_SCOPE)
  set(${pc} "${linked_by}" PARENT_SCOPE)
endfunction()

# Sets, in the caller's scope, for one component: CREEK_FIND_CALLS for its CMake file; modules_public and flags_public
# for Requires and Libs of its pkg-config module, modules_private and flags_private for Requires.private and
# Libs.private, which `pkg-config --static` adds.
function(_creek_consumer_dependencies component)
  _creek_consumer_libraries(creek_${component} public private)
  # The link options of the CMake target; see _creek_library(). --gc-sections makes programs smaller, but no program
  # needs it, so it is private.
  get_target_property(options creek_${component} INTERFACE_LINK_OPTIONS)
  if(NOT options)
    set(options "")
  endif()
  list(TRANSFORM options REPLACE "^LINKER:" "-Wl,")
  set(flags_public ${options})
  set(flags_private ${options})
  list(FILTER flags_public EXCLUDE REGEX "--gc-sections")
  list(FILTER flags_private INCLUDE REGEX "--gc-sections")
  set(calls)
  foreach(kind public private)
    set(modules_${kind})
    foreach(library ${${kind}})
      _creek_consumer_row(${component} ${library} call pc)
      list(APPEND calls "${call}")
      if(pc MATCHES "^-")
        list(APPEND flags_${kind} ${pc})
      else()
        list(APPEND modules_${kind} ${pc})
      endif()
    endforeach()
    list(JOIN modules_${kind} ", " modules)
    list(JOIN flags_${kind} " " flags)
    set(modules_${kind} "${modules}" PARENT_SCOPE)
    set(flags_${kind} "${flags}" PARENT_SCOPE)
  endforeach()
  list(JOIN calls "\n" calls)
  set(CREEK_FIND_CALLS "${calls}" PARENT_SCOPE)
endfunction()

# _creek_install_pkgconfig(name [field text]...): writes and installs the pkg-config module `name`. Fields with an
# empty text are left out.
function(_creek_install_pkgconfig name)
  file(RELATIVE_PATH CREEK_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" CREEK_PC_PREFIX "${CREEK_PC_PREFIX}")
  set(CREEK_PC_NAME ${name})
  # `pkg-config --list-all` shows the description, also to a user whose link fails because --static is missing.
  set(CREEK_PC_DESCRIPTION "${PROJECT_DESCRIPTION}")
  if(NOT BUILD_SHARED_LIBS)
    string(APPEND CREEK_PC_DESCRIPTION " (static libraries: use pkg-config --static)")
  endif()
  set(CREEK_PC_FIELDS)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last} 2)
    math(EXPR next "${i} + 1")
    if(NOT ARGV${next} STREQUAL "")
      list(APPEND CREEK_PC_FIELDS "${ARGV${i}}: ${ARGV${next}}")
    endif()
  endforeach()
  list(JOIN CREEK_PC_FIELDS "\n" CREEK_PC_FIELDS)
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
    Requires "${modules_public}" Requires.private "${modules_private}"
    Libs "-L\${libdir} -lcreek_${component} ${flags_public}" Libs.private "${flags_private}"
    Cflags "-I\${includedir}")
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
  list(JOIN libraries ", " modules)
  _creek_install_pkgconfig(creek Requires "${modules}")
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
  get_property(modules GLOBAL PROPERTY CREEK_MPI_MODULES)
  if(modules)
    install(TARGETS ${modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/creek COMPONENT mpi)
  endif()
  foreach(pages docs examples)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR}
            COMPONENT documentation)
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
          DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
endfunction()
