# Finds libbacktrace and makes the target Libbacktrace::libbacktrace. The library comes without a
# CMake package; Debian's is a part of GCC, in a folder that the compilers know.
foreach(_tbtrace_file libbacktrace.a include/backtrace.h)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${_tbtrace_file}
    OUTPUT_VARIABLE _tbtrace_path OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  cmake_path(GET _tbtrace_path PARENT_PATH _tbtrace_folder)
  list(APPEND _tbtrace_folders ${_tbtrace_folder} ${_tbtrace_folder}/include)
endforeach()
find_path(Libbacktrace_INCLUDE_DIR backtrace.h HINTS ${_tbtrace_folders})
find_library(Libbacktrace_LIBRARY backtrace HINTS ${_tbtrace_folders})
unset(_tbtrace_folders)
mark_as_advanced(Libbacktrace_INCLUDE_DIR Libbacktrace_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libbacktrace
  REQUIRED_VARS Libbacktrace_LIBRARY Libbacktrace_INCLUDE_DIR)

if(Libbacktrace_FOUND AND NOT TARGET Libbacktrace::libbacktrace)
  # A copy, so that the folder with the compiler's own headers is not searched before the system's.
  set(_tbtrace_headers ${CMAKE_CURRENT_BINARY_DIR}/tbtrace_libbacktrace)
  file(COPY ${Libbacktrace_INCLUDE_DIR}/backtrace.h DESTINATION ${_tbtrace_headers})
  add_library(Libbacktrace::libbacktrace UNKNOWN IMPORTED)
  set_target_properties(Libbacktrace::libbacktrace PROPERTIES
    IMPORTED_LOCATION "${Libbacktrace_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES ${_tbtrace_headers})
  unset(_tbtrace_headers)
endif()
