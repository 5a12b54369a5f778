# SPDX-License-Identifier: Apache-2.0
# Explores one Promela model exhaustively:
#   cmake -DSPIN=... -DCC=... [-DTCC=...] -DMODEL=x.pml -DDEFINES=-DA;-DB -DEXPECT=sound|fault -DWORK=dir
#         -P spin_model.cmake
# `fault`: the model has a planted fault that the exploration must find.
file(MAKE_DIRECTORY ${WORK})
# Finding a fault is quick, so compilation takes most of the time: TCC, if it is there, needs a fortieth of it. -O1 takes
# twice as long to compile, and gains little.
set(optimize -Og)
if(EXPECT STREQUAL "fault")
  set(optimize -O0)
  if(TCC)
    set(CC ${TCC})
  endif()
endif()
foreach(step "${SPIN};-a;${DEFINES};${MODEL}" "${CC};${optimize};-DSAFETY;-w;-c;pan.c" "${CC};-o;pan;pan.o"
        "./pan;-n;-m1000000")
  list(FILTER step EXCLUDE REGEX "^$")
  execute_process(COMMAND ${step} WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE out ERROR_VARIABLE out
                  RESULT_VARIABLE rc)
  if(NOT rc EQUAL 0)
    message(FATAL_ERROR "${step}: ${rc}\n${out}")
  endif()
endforeach()
message("${out}")
if(out MATCHES "max search depth too small|out of memory" OR NOT out MATCHES "errors: ([0-9]+)")
  message(FATAL_ERROR "the exploration did not finish")
endif()
set(errors ${CMAKE_MATCH_1})
if(EXPECT STREQUAL "sound" AND NOT errors EQUAL 0)
  message(FATAL_ERROR "a fault in a protocol that should be sound; ${WORK} holds the trail")
elseif(EXPECT STREQUAL "fault" AND errors EQUAL 0)
  message(FATAL_ERROR "the planted fault was not found")
endif()
