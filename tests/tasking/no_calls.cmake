# SPDX-License-Identifier: Apache-2.0
# Fails if the object file of many_forks.cpp has a function of the fast path out of line:
#   cmake -DNM=... -DOBJECT=x.o -P no_calls.cmake
execute_process(COMMAND ${NM} -C ${OBJECT} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "task_stack::join_slow")
  message(FATAL_ERROR "${OBJECT} has no forks")
endif()
string(REGEX MATCHALL "[^\n]*(task_stack::(push|pop|join|run_newest)|task_context::(started|ended))\\([^\n]*"
       found "${symbols}")
if(found)
  message(FATAL_ERROR "not inlined:\n${found}")
endif()
