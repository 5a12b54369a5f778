# SPDX-License-Identifier: Apache-2.0
# Debian packages: `cpack -G DEB` in a build tree configured with -DCMAKE_INSTALL_PREFIX=/usr and
# -DBUILD_SHARED_LIBS=ON makes libcreek0.1, libcreek-dev, libcreek-mpi, libcreek-scalapack, creek, creek-lapack and
# creek-doc.
# tests/consumer/chroot.sh installs, uses and removes them in a fresh Debian.
include_guard(GLOBAL)

# Writes Debian's changelog of the packages to `file`. The date is SOURCE_DATE_EPOCH if that is set.
function(_creek_debian_changelog file)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${file} "creek (${PROJECT_VERSION}) stable; urgency=medium

  * ${PROJECT_VERSION}; the package creek-doc has the changes in CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
endfunction()

# Names and describes the package of a component (lines of text follow the arguments), and installs the files that every
# Debian package has.
function(_creek_package component name section)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  string(JOIN "\n" text
    "creek runs tasks, MapReduce jobs and dense linear algebra on many cores, on"
    "host threads or on a simulated chip without cache coherence." "." ${ARGN})
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${text}" PARENT_SCOPE)
  # EXCLUDE_FROM_ALL: these are in the packages, `cmake --install` leaves them out.
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright ${PROJECT_BINARY_DIR}/install/changelog
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

function(creek_packages)
  set(version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME creek)
  set(CPACK_PACKAGE_VENDOR creek)
  # Distributors set this to an address that exists.
  if(NOT CPACK_PACKAGE_CONTACT)
    set(CPACK_PACKAGE_CONTACT "the authors of creek <creek@localhost>")
  endif()
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(CPACK_STRIP_FILES ON)
  set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/creek_compress_pages.cmake)
  # Folders have these permissions whatever umask the build runs with.
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
      OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_ALL libraries development documentation)
  get_property(modules GLOBAL PROPERTY CREEK_MPI_MODULES)
  if(modules)
    list(APPEND CPACK_COMPONENTS_ALL mpi)
  endif()
  get_property(drop_ins GLOBAL PROPERTY CREEK_SCALAPACK_LIBRARIES)
  if(drop_ins)
    list(APPEND CPACK_COMPONENTS_ALL scalapack)
  endif()
  if(TARGET creek_tool)
    list(APPEND CPACK_COMPONENTS_ALL tool)
  endif()
  if(TARGET creek_liblapack)
    list(APPEND CPACK_COMPONENTS_ALL alternatives)
  endif()
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})

  _creek_debian_changelog(${PROJECT_BINARY_DIR}/install/changelog)
  _creek_package(libraries libcreek${version} libs "This package contains the shared libraries.")
  # The loader's cache has to list the libraries after installation and forget them after removal.
  set(triggers ${PROJECT_BINARY_DIR}/install/triggers)
  file(WRITE ${triggers} "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_LIBRARIES_PACKAGE_CONTROL_EXTRA ${triggers})
  # Other packages whose programs link creek get their dependency from the list that this makes.
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_LIBRARIES_PACKAGE_RECOMMENDS libhwloc15)
  set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SUGGESTS libdw1)

  # The headers include no other library's; a program of static libraries is linked with these.
  set(needed)
  if(NOT BUILD_SHARED_LIBS)
    set(needed libboost-context-dev libbz2-dev libfmt-dev libhwy-dev liblz4-dev liblzma-dev
        libzstd-dev zlib1g-dev)
    if(TARGET creek_tbb)
      list(APPEND needed libtbb-dev)
    endif()
    foreach(library UTF8PROC:libutf8proc-dev RE2:libre2-dev SIMDJSON:libsimdjson-dev)
      string(REPLACE ":" ";" library ${library})
      list(GET library 0 prefix)
      list(GET library 1 package)
      if(TARGET PkgConfig::${prefix})
        list(APPEND needed ${package})
      endif()
    endforeach()
  endif()
  list(PREPEND needed "libcreek${version} (= ${PROJECT_VERSION})")
  list(JOIN needed ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
  _creek_package(development libcreek-dev libdevel
    "This package contains the headers, and the files by which CMake and pkg-config"
    "find the libraries.")
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS creek-doc)

  _creek_package(mpi libcreek-mpi libs
    "This package contains the modules by which programs of creek run on several machines,"
    "over Open MPI or MPICH.")
  # One of those for which there is a module is enough.
  set(implementations)
  foreach(implementation openmpi:libopenmpi3 mpich:libmpich12)
    string(REPLACE ":" ";" implementation ${implementation})
    list(GET implementation 0 name)
    list(GET implementation 1 package)
    if(creek_mpi_${name} IN_LIST modules)
      list(APPEND implementations ${package})
    endif()
  endforeach()
  list(JOIN implementations " | " implementations)
  set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "libcreek${version} (= ${PROJECT_VERSION}), ${implementations}")

  _creek_package(scalapack libcreek-scalapack libs
    "This package contains the libraries by which programs that link ScaLAPACK run on creek,"
    "over Open MPI or MPICH.")
  set(implementations)
  foreach(name openmpi mpich)
    if(creek_scalapack_${name} IN_LIST drop_ins)
      list(APPEND implementations libscalapack-${name}2.2)  # of Debian 12
    endif()
  endforeach()
  list(JOIN implementations " | " implementations)
  set(CPACK_DEBIAN_SCALAPACK_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_SCALAPACK_PACKAGE_DEPENDS "libcreek-mpi (= ${PROJECT_VERSION}), ${implementations}")
  set(CPACK_DEBIAN_SCALAPACK_PACKAGE_CONTROL_EXTRA ${triggers})

  _creek_package(tool creek utils
    "This package contains the command creek, and rccerun, which runs RCCE programs,"
    "with creek-rcce-cc, which calls the C compiler for these.")
  set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "gcc, creek-doc")
  set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "libcreek${version} (= ${PROJECT_VERSION})")

  _creek_package(alternatives creek-lapack libs
    "With this package, programs that link libblas.so.3 and liblapack.so.3 run on creek,"
    "and take from OpenBLAS what creek does not have.")
  # The names that it depends on are those in its libraries, which have no functions.
  set(CPACK_DEBIAN_ALTERNATIVES_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_ALTERNATIVES_PACKAGE_DEPENDS "libcreek${version} (= ${PROJECT_VERSION}), libopenblas0")
  set(CPACK_DEBIAN_ALTERNATIVES_PACKAGE_PROVIDES "libblas.so.3, liblapack.so.3")
  set(scripts ${triggers})
  foreach(script postinst prerm)
    configure_file(packaging/debian/creek-lapack.${script}.in ${PROJECT_BINARY_DIR}/install/${script} @ONLY)
    list(APPEND scripts ${PROJECT_BINARY_DIR}/install/${script})
  endforeach()
  set(CPACK_DEBIAN_ALTERNATIVES_PACKAGE_CONTROL_EXTRA ${scripts})

  _creek_package(documentation creek-doc doc "This package contains the guides and the examples.")
  set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
  include(CPack)
endfunction()
