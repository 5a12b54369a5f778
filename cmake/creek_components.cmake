# SPDX-License-Identifier: Apache-2.0
# Which of creek's libraries are built: CREEK_COMPONENTS and the components that these need, in the list
# CREEK_WANTED, in the order of the layers.
include_guard(GLOBAL)

set(CREEK_ALL_COMPONENTS core tasking stream tbb scc mpi mapreduce text linalg power)
set(CREEK_COMPONENTS all CACHE STRING
    "Components to build: a list of ${CREEK_ALL_COMPONENTS}, or all of them")

set(CREEK_COMPLETE OFF)
if(CREEK_COMPONENTS STREQUAL "all")
  set(CREEK_COMPLETE ON)
  set(CREEK_WANTED ${CREEK_ALL_COMPONENTS})
else()
  set(CREEK_WANTED core)
  foreach(component IN LISTS CREEK_COMPONENTS)
    if(NOT component IN_LIST CREEK_ALL_COMPONENTS)
      list(JOIN CREEK_ALL_COMPONENTS ", " known)
      message(FATAL_ERROR "creek: CREEK_COMPONENTS: unknown component '${component}'; valid: ${known}, or all")
    endif()
    if(NOT component MATCHES "^(core|power|mpi)$")
      list(APPEND CREEK_WANTED tasking)
    endif()
    if(component STREQUAL "text")
      list(APPEND CREEK_WANTED mapreduce)
    endif()
    list(APPEND CREEK_WANTED ${component})
  endforeach()
  list(REMOVE_DUPLICATES CREEK_WANTED)
endif()
