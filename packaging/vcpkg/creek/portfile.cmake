# SPDX-License-Identifier: Apache-2.0
# An overlay port that builds the source tree that contains it.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

set(components core)
foreach(component tasking stream tbb scc mpi mapreduce text linalg power)
  if(component IN_LIST FEATURES)
    list(APPEND components ${component})
  endif()
endforeach()

vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS "-DCREEK_COMPONENTS=${components}" "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
          -DCREEK_WITH_MPI=OFF
          -DCREEK_BUILD_APPS=OFF -DCREEK_BUILD_TESTS=OFF -DCREEK_BUILD_BENCH=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME creek CONFIG_PATH lib/cmake/creek)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
                    "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
