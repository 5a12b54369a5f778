# SPDX-License-Identifier: Apache-2.0
# cmake -DNM=... -DOBJECTS=... -DNAMES=file -P usual_names.cmake
# Writes the linker's options that give every exported function of OBJECTS its name without the suffix for 64-bit
# integers (dgetrf_ for dgetrf_64_), for the library that has no others.
execute_process(COMMAND ${NM} --defined-only --extern-only --format=posix ${OBJECTS}
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)(LAPACKE_|cblas_)?[sdcz][a-z0-9_]*64_ [TW]" found "${symbols}")
list(FILTER found EXCLUDE REGEX "^\n?scipy_")
set(options)
foreach(symbol IN LISTS found)
  string(REGEX REPLACE "^\n?(.*)64_ .$" "\\1" name "${symbol}")
  string(APPEND options "-Wl,--defsym=${name}=${name}64_\n")
endforeach()
file(WRITE ${NAMES} "${options}")
