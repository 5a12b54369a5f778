# SPDX-License-Identifier: Apache-2.0
# How the benchmark peers are built: bench_<peer>, all in one folder, where `creek bench` finds them.
include_guard(GLOBAL)
find_package(nlohmann_json REQUIRED)

if(CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  set(BENCH_BIN ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
else()
  set(BENCH_BIN ${CMAKE_BINARY_DIR}/bin)
endif()

# All peers that can be built, and nothing else: what `creek bench` runs.
add_custom_target(bench_peers)

function(_bench_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE ${CREEK_WARNINGS} $<$<BOOL:${CREEK_WERROR}>:-Werror>)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/bench)
endfunction()

set(BENCH_C_OPTIONS -Wall -Wextra -Wpedantic $<$<BOOL:${CREEK_WERROR}>:-Werror>)

function(_bench_finish target)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${BENCH_BIN})
  add_dependencies(bench_peers ${target})
  creek_install_rpath(${target} ${CMAKE_INSTALL_FULL_LIBEXECDIR}/creek)
  if(CREEK_INSTALL)
    # OPTIONAL: `./bootstrap build` makes the tool alone, and what it makes can be installed.
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/creek COMPONENT bench
            OPTIONAL)
  endif()
endfunction()

# The protocol's main() and what the workloads of linear algebra share, compiled once for all peers.
add_library(bench_peer_main OBJECT harness/peer_main.cpp harness/dense.cpp)
target_link_libraries(bench_peer_main PRIVATE creek_command_line creek_json creek_core_headers)
_bench_options(bench_peer_main)

# What several peers do in the same way is written once, in <workload>/<kind>.cpp, which includes
# harness/<peer>_runtime.hpp as BENCH_RUNTIME: forks of two closures, and data under a lock.
set(BENCH_forks creek citor omp serial tbb)
set(BENCH_locked mutex spin)

# The sources of a peer: <workload>/<peer>.cpp of those workloads that have one, those of its kind, and its
# runtime, harness/<peer>_*.cpp, if it has one.
function(_bench_sources out peer workloads)
  file(GLOB sources CONFIGURE_DEPENDS harness/${peer}_*.cpp)
  if(NOT sources)
    set(sources harness/plain_runtime.cpp)
  endif()
  set(names ${peer})
  foreach(kind forks locked)
    if(peer IN_LIST BENCH_${kind})
      list(APPEND names ${kind})
    endif()
  endforeach()
  foreach(workload ${workloads})
    foreach(name ${names})
      if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${workload}/${name}.cpp)
        list(APPEND sources ${workload}/${name}.cpp)
      endif()
    endforeach()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# bench_peer(NAME tbb WORKLOADS fib ... LIBRARIES TBB::tbb), or FOLDER limits: all sources of it, or SOURCES_OF
# another peer.
function(bench_peer)
  cmake_parse_arguments(P "" "NAME;FOLDER;SOURCES_OF" "WORKLOADS;LIBRARIES" ${ARGN})
  if(NOT P_SOURCES_OF)
    set(P_SOURCES_OF ${P_NAME})
  endif()
  if(P_FOLDER)
    file(GLOB sources CONFIGURE_DEPENDS ${P_FOLDER}/*.cpp)
  else()
    _bench_sources(sources ${P_SOURCES_OF} "${P_WORKLOADS}")
  endif()
  add_executable(bench_${P_NAME} ${sources})
  if(P_FOLDER)
    # The workloads of a folder have the same names inside, unlike those of a peer.
    set_target_properties(bench_${P_NAME} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_link_libraries(bench_${P_NAME} PRIVATE bench_peer_main Threads::Threads ${P_LIBRARIES})
  target_compile_definitions(bench_${P_NAME} PRIVATE BENCH_PEER_NAME="${P_NAME}"
                             BENCH_RUNTIME="harness/${P_SOURCES_OF}_runtime.hpp")
  _bench_options(bench_${P_NAME})
  _bench_finish(bench_${P_NAME})
endfunction()

# Peers with few workloads, in a folder `demo` of their own: for ./bootstrap demo, which builds no more than
# it shows.
add_custom_target(demo_peers)

# bench_demo_peer(NAME libgomp SOURCES_OF omp WORKLOADS fib LIBRARIES OpenMP::OpenMP_CXX): left out where a
# library is missing.
function(bench_demo_peer)
  cmake_parse_arguments(P "" "NAME;SOURCES_OF" "WORKLOADS;LIBRARIES" ${ARGN})
  foreach(library ${P_LIBRARIES})
    if(NOT TARGET ${library})
      return()
    endif()
  endforeach()
  _bench_sources(sources ${P_SOURCES_OF} "${P_WORKLOADS}")
  add_executable(demo_${P_NAME} ${sources})
  target_link_libraries(demo_${P_NAME} PRIVATE bench_peer_main Threads::Threads ${P_LIBRARIES}
                        ${CMAKE_DL_LIBS})
  target_compile_definitions(demo_${P_NAME} PRIVATE BENCH_PEER_NAME="${P_NAME}"
                             BENCH_CREEK_VERSION="${PROJECT_VERSION}")
  _bench_options(demo_${P_NAME})
  set_target_properties(demo_${P_NAME} PROPERTIES OUTPUT_NAME bench_${P_NAME}
                        RUNTIME_OUTPUT_DIRECTORY ${BENCH_BIN}/../demo)
  add_dependencies(demo_peers demo_${P_NAME})
endfunction()

# bench_libgomp and bench_libomp from the same objects: GCC's OpenMP code runs on libomp too, which
# implements the GOMP_* entry points. Two processes, since the two cannot live in one.
function(bench_openmp_peers)
  cmake_parse_arguments(P "" "" "WORKLOADS" ${ARGN})
  find_package(OpenMP QUIET COMPONENTS CXX)
  if(NOT OpenMP_CXX_FOUND OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(STATUS "bench: no OpenMP peers (they need GCC with OpenMP)")
    return()
  endif()
  _bench_sources(sources omp "${P_WORKLOADS}")
  add_library(bench_omp_objects OBJECT ${sources})
  target_compile_options(bench_omp_objects PRIVATE ${OpenMP_CXX_FLAGS})
  target_compile_definitions(bench_omp_objects PRIVATE BENCH_RUNTIME="harness/omp_runtime.hpp")
  _bench_options(bench_omp_objects)

  add_executable(bench_libgomp)
  target_link_libraries(bench_libgomp PRIVATE bench_peer_main bench_omp_objects
                        OpenMP::OpenMP_CXX ${CMAKE_DL_LIBS})
  _bench_finish(bench_libgomp)

  file(GLOB llvm_folders /usr/lib/llvm-*/lib)
  find_library(BENCH_LIBOMP NAMES omp libomp.so.5 PATHS ${llvm_folders})
  if(NOT BENCH_LIBOMP)
    message(STATUS "bench: no libomp peer (libomp not found; on Debian: libomp-dev)")
    return()
  endif()
  add_executable(bench_libomp)
  target_link_libraries(bench_libomp PRIVATE bench_peer_main bench_omp_objects ${BENCH_LIBOMP}
                        Threads::Threads ${CMAKE_DL_LIBS})
  _bench_finish(bench_libomp)
endfunction()

# bench_mpi, for Open MPI, whose launcher and transports harness/mpi_runtime.cpp names.
function(bench_mpi_peer)
  cmake_parse_arguments(P "" "" "WORKLOADS" ${ARGN})
  set(MPI_CXX_SKIP_MPICXX ON)
  set(MPI_DETERMINE_LIBRARY_VERSION ON)
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND OR NOT MPIEXEC_EXECUTABLE
     OR NOT MPI_CXX_LIBRARY_VERSION_STRING MATCHES "^Open MPI v([0-9]+)")
    message(STATUS "bench: no MPI peer (Open MPI not found; on Debian: libopenmpi-dev openmpi-bin)")
    return()
  endif()
  set(shared_memory vader)
  if(CMAKE_MATCH_1 GREATER_EQUAL 5)
    set(shared_memory sm)
  endif()
  bench_peer(NAME mpi WORKLOADS ${P_WORKLOADS} LIBRARIES MPI::MPI_CXX)
  target_compile_definitions(bench_mpi PRIVATE
    BENCH_MPIEXEC="${MPIEXEC_EXECUTABLE}" BENCH_MPI_SHARED_MEMORY="${shared_memory}")
endfunction()

# bench_blas, which is a peer a library of linear algebra (harness/blas_variants.cpp). It loads them
# at run time: none is needed here. `./bootstrap bench linalg` unpacks the wheels into this folder.
set(CREEK_BENCH_WHEELS ${PROJECT_SOURCE_DIR}/build/peers/wheels CACHE PATH
    "Where the benchmark peers find libraries of linear algebra from unpacked Python wheels")
function(bench_blas_peers)
  cmake_parse_arguments(P "" "" "WORKLOADS" ${ARGN})
  bench_peer(NAME blas WORKLOADS ${P_WORKLOADS}
             LIBRARIES nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
  target_compile_definitions(bench_blas PRIVATE BENCH_WHEELS="${CREEK_BENCH_WHEELS}")
endfunction()

# bench_lapack, a C program without creek in it, which is a peer per library that it finds at run time
# (lapack/libraries.c). The drop-in library is found by the loader, relative to the program.
function(bench_lapack_peers)
  file(GLOB sources CONFIGURE_DEPENDS lapack/*.c)
  add_executable(bench_lapack ${sources})
  target_compile_features(bench_lapack PRIVATE c_std_11)
  target_compile_options(bench_lapack PRIVATE ${BENCH_C_OPTIONS})
  target_link_libraries(bench_lapack PRIVATE ${CMAKE_DL_LIBS} m)
  set(version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_definitions(bench_lapack PRIVATE _GNU_SOURCE BENCH_CREEK_VERSION="${PROJECT_VERSION}"
                             BENCH_CREEK_LAPACK="libcreek_lapack.so.${version}")
  _bench_finish(bench_lapack)
  if(TARGET creek_lapack)
    add_dependencies(bench_lapack creek_lapack)
    get_target_property(built creek_lapack LIBRARY_OUTPUT_DIRECTORY)
    if(NOT built)
      get_target_property(built creek_lapack BINARY_DIR)
    endif()
    file(RELATIVE_PATH built_path ${BENCH_BIN} ${built})
    file(RELATIVE_PATH installed_path ${CMAKE_INSTALL_FULL_LIBEXECDIR}/creek ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(bench_lapack PROPERTIES BUILD_WITH_INSTALL_RPATH ON
                          INSTALL_RPATH "$ORIGIN/${installed_path};$ORIGIN/${built_path}")
  endif()
endfunction()

# _bench_cargo(TARGET bench_peers_rust CRATE rust PROGRAMS bench_rayon ... OPTIONS --features ...):
# programs of bench/peers/<crate>, by cargo, which fetches their crates. Not part of ALL: a build must
# not need the network.
function(_bench_cargo)
  cmake_parse_arguments(P "" "TARGET;CRATE" "PROGRAMS;OPTIONS" ${ARGN})
  set(output ${CMAKE_BINARY_DIR}/${P_CRATE})
  list(TRANSFORM P_PROGRAMS PREPEND ${output}/release/ OUTPUT_VARIABLE built)
  add_custom_target(${P_TARGET}
    COMMAND ${BENCH_CARGO} build --release --locked --target-dir ${output} ${P_OPTIONS}
            --manifest-path ${CMAKE_CURRENT_SOURCE_DIR}/peers/${P_CRATE}/Cargo.toml
    COMMAND ${CMAKE_COMMAND} -E make_directory ${BENCH_BIN}
    COMMAND ${CMAKE_COMMAND} -E copy ${built} ${BENCH_BIN}
    COMMENT "Building the benchmark peers ${P_PROGRAMS}" USES_TERMINAL VERBATIM)
endfunction()

# Targets bench_peers_rust (rayon and chili) and bench_peers_faer.
function(bench_rust_peers)
  find_program(BENCH_CARGO cargo)
  mark_as_advanced(BENCH_CARGO)
  if(NOT BENCH_CARGO)
    message(STATUS "bench: no rayon, chili and faer peers (cargo not found)")
    return()
  endif()
  _bench_cargo(TARGET bench_peers_rust CRATE rust PROGRAMS bench_rayon bench_chili)
  execute_process(COMMAND ${BENCH_CARGO} --version OUTPUT_VARIABLE version ERROR_QUIET)
  set(features "")
  if(version MATCHES "^cargo ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 1.89)
    set(features --features avx512)
  endif()
  _bench_cargo(TARGET bench_peers_faer CRATE faer PROGRAMS bench_faer OPTIONS ${features})
endfunction()

# DuckDB and Polars, a Python program; the modules are looked for when it runs.
function(bench_database_peers)
  set(program ${BENCH_BIN}/bench_databases)
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${BENCH_BIN}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/peers/databases.py ${program}
    DEPENDS peers/databases.py VERBATIM)
  add_custom_target(bench_databases DEPENDS ${program})
  add_dependencies(bench_peers bench_databases)
  if(CREEK_INSTALL)
    install(PROGRAMS peers/databases.py RENAME bench_databases
            DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/creek COMPONENT bench)
  endif()
endfunction()
