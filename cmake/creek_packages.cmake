# SPDX-License-Identifier: Apache-2.0
# Debian packages: `cpack -G DEB` in a build tree configured with -DCMAKE_INSTALL_PREFIX=/usr and
# -DBUILD_SHARED_LIBS=ON makes libcreek0.1, libcreek-dev, creek and creek-doc.
include_guard(GLOBAL)

function(creek_packages)
  set(version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME creek)
  set(CPACK_PACKAGE_VENDOR creek)
  set(CPACK_PACKAGE_CONTACT "the authors of creek <creek@localhost>")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_ALL libraries development documentation)
  if(TARGET creek_tool)
    list(APPEND CPACK_COMPONENTS_ALL tool)
  endif()
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})

  set(CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME libcreek${version})
  set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIBRARIES_PACKAGE_RECOMMENDS libhwloc15)
  set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SUGGESTS libdw1)

  # The headers include no other library's; a program of static libraries is linked with these.
  set(needed)
  if(NOT BUILD_SHARED_LIBS)
    set(needed libboost-context-dev libbz2-dev libfmt-dev libhwy-dev liblzma-dev libxxhash-dev libzstd-dev
        zlib1g-dev)
    if(TARGET creek_tbb)
      list(APPEND needed libtbb-dev)
    endif()
  endif()
  list(PREPEND needed "libcreek${version} (= ${PROJECT_VERSION})")
  list(JOIN needed ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcreek-dev)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS creek-doc)

  set(CPACK_DEBIAN_TOOL_PACKAGE_NAME creek)
  set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "libcreek${version} (= ${PROJECT_VERSION})")

  set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_NAME creek-doc)
  set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SECTION doc)
  set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
  include(CPack)
endfunction()
