# Libraries that come without a CMake package of their own. A program that links the static library links them too, and then
# needs no header of theirs: find_package(tbtrace) looks for the very file that tbtrace was built with, by its name.

# tbtrace_file_of_library(VARIABLE TARGET): the name of the file that a program loads or, of an archive, links:
# libisal.so.2, libbacktrace.a.
function(tbtrace_file_of_library variable target)
  foreach(property LOCATION LOCATION_RELEASE LOCATION_NONE LOCATION_NOCONFIG)
    get_target_property(file ${target} IMPORTED_${property})
    if(file)
      break()
    endif()
  endforeach()
  file(REAL_PATH "${file}" file)
  get_filename_component(name "${file}" NAME)
  if(NOT name MATCHES "[.]a$")
    execute_process(COMMAND ${CMAKE_READELF} --dynamic ${file} OUTPUT_VARIABLE dynamic ERROR_QUIET)
    if(dynamic MATCHES "soname: \\[([^]]+)\\]")
      set(name ${CMAKE_MATCH_1})
    endif()
  endif()
  set(${variable} ${name} PARENT_SCOPE)
endfunction()

# tbtrace_library(NAME TARGET [NEEDS NAME...]) makes tbtrace::NAME, which the exported library names instead of TARGET, and
# adds `NAME=FILE,NEEDS...` to TBTRACE_LIBRARIES.
function(tbtrace_library name target)
  cmake_parse_arguments(PARSE_ARGV 2 library "" "" NEEDS)
  add_library(tbtrace::${name} INTERFACE IMPORTED)
  set_target_properties(tbtrace::${name} PROPERTIES INTERFACE_LINK_LIBRARIES ${target})
  tbtrace_file_of_library(entry ${target})
  list(PREPEND library_NEEDS ${entry})
  list(JOIN library_NEEDS "," entry)
  list(APPEND TBTRACE_LIBRARIES ${name}=${entry})
  set(TBTRACE_LIBRARIES ${TBTRACE_LIBRARIES} PARENT_SCOPE)
  set(TBTRACE_NAME_OF_${target} tbtrace::${name} PARENT_SCOPE)
endfunction()
