# SPDX-License-Identifier: Apache-2.0
# Fails unless the programs A and B, called with ARGUMENT, print the same apart from times.
foreach(program A B)
  execute_process(COMMAND ${${program}} ${ARGUMENT} OUTPUT_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${${program}} ${ARGUMENT}: ${status}\n${output}")
  endif()
  string(REGEX REPLACE "Time:[^\n]*\n" "" printed_by_${program} "${output}")
endforeach()
if(NOT printed_by_A STREQUAL printed_by_B OR printed_by_A STREQUAL "")
  message(FATAL_ERROR "${A} prints\n${printed_by_A}\n${B} prints\n${printed_by_B}")
endif()
