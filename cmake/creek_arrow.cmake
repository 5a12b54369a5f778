# SPDX-License-Identifier: Apache-2.0
# Arrow's C++ library with its Parquet reader, for the tool: target creek_arrow if it is there and this
# compiler can use it. From Arrow's CMake package, or else from the pyarrow wheel of PyPI, which has headers
# and libraries: Debian 12 has no Arrow. CREEK_ARROW_IS_PACKAGED says that it is the first.
include_guard(GLOBAL)

set(CREEK_PYARROW ${PROJECT_SOURCE_DIR}/build/oracle CACHE PATH
    "Folder that holds the Python package pyarrow, whose Arrow is used where there is no other")
if(NOT CREEK_WITH_PARQUET)
  return()
endif()

find_package(Parquet CONFIG QUIET)
set(CREEK_ARROW_IS_PACKAGED NO CACHE INTERNAL "")
set(found)
if(TARGET Parquet::parquet_shared)
  set(CREEK_ARROW_IS_PACKAGED YES CACHE INTERNAL "")
  set(found LIBRARIES Parquet::parquet_shared)
else()
  file(GLOB parquet ${CREEK_PYARROW}/pyarrow/libparquet.so.*)
  file(GLOB arrow ${CREEK_PYARROW}/pyarrow/libarrow.so.*)
  if(parquet AND arrow)
    set(found LIBRARIES ${parquet} ${arrow} INCLUDES ${CREEK_PYARROW}/pyarrow/include)
  endif()
endif()
if(NOT found)
  message(STATUS "Parquet tables: no, Arrow's C++ library is not there")
  return()
endif()

cmake_parse_arguments(arrow "" "" "LIBRARIES;INCLUDES" ${found})
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_QUIET YES)
set(CMAKE_REQUIRED_FLAGS -std=c++20)
set(CMAKE_REQUIRED_INCLUDES ${arrow_INCLUDES})
set(CMAKE_REQUIRED_LIBRARIES ${arrow_LIBRARIES})
# Asked again where other libraries have been found.
string(MD5 of "${found}")
check_cxx_source_compiles("
  #include <parquet/file_reader.h>
  int main(int, char** names) { parquet::ParquetFileReader::OpenFile(names[1]); }"
  CREEK_ARROW_COMPILES_${of})
unset(CMAKE_REQUIRED_QUIET)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT CREEK_ARROW_COMPILES_${of})
  message(STATUS "Parquet tables: no, this compiler cannot use ${arrow_LIBRARIES}")
  return()
endif()
message(STATUS "Parquet tables: with ${arrow_LIBRARIES}")
add_library(creek_arrow INTERFACE)
target_include_directories(creek_arrow SYSTEM INTERFACE ${arrow_INCLUDES})
target_link_libraries(creek_arrow INTERFACE ${arrow_LIBRARIES})
