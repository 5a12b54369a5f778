# SPDX-License-Identifier: Apache-2.0
# Highway's libraries as the target creek::highway, for creek's build and, installed, for those who link creek.
# Only the sorting of keys and the vector code chosen at run time call them: a program that does neither is
# linked without them (--as-needed, for these alone).
include_guard(GLOBAL)

# Makes the target of what pkg-config found.
function(creek_define_highway)
  if(TARGET creek::highway)
    return()
  endif()
  list(JOIN HWY_LINK_LIBRARIES "," libraries)
  if(HWY_CONTRIB_LINK_LIBRARIES)
    list(JOIN HWY_CONTRIB_LINK_LIBRARIES "," contrib)
    string(PREPEND libraries "${contrib},")
  endif()
  add_library(creek::highway INTERFACE IMPORTED GLOBAL)
  set_target_properties(creek::highway PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${HWY_INCLUDE_DIRS}"
    INTERFACE_COMPILE_OPTIONS "${HWY_CFLAGS_OTHER}"
    INTERFACE_LINK_LIBRARIES "-Wl,--push-state,--as-needed,${libraries},--pop-state")
endfunction()

# For the installed package: finds them first; without them creek_FOUND becomes false.
macro(creek_find_highway)
  creek_find_pkgconfig(HWY libhwy)
  creek_find_pkgconfig(HWY_CONTRIB libhwy-contrib)
  creek_define_highway()
endmacro()
