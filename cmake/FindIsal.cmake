# Finds ISA-L and makes the target Isal::isal. The library comes without a CMake package.
find_path(Isal_INCLUDE_DIR isa-l/igzip_lib.h)
find_library(Isal_LIBRARY isal)
mark_as_advanced(Isal_INCLUDE_DIR Isal_LIBRARY)

# Its header stands beside the folder or in it, as the library was installed.
set(Isal_VERSION "")
foreach(_tbtrace_header isa-l.h isa-l/isa-l.h)
  if(EXISTS "${Isal_INCLUDE_DIR}/${_tbtrace_header}")
    file(STRINGS "${Isal_INCLUDE_DIR}/${_tbtrace_header}" _tbtrace_lines REGEX "#define ISAL_[A-Z]+_VERSION [0-9]+")
    string(REGEX REPLACE "[^0-9;]" "" Isal_VERSION "${_tbtrace_lines}")
    string(REPLACE ";" "." Isal_VERSION "${Isal_VERSION}")
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Isal REQUIRED_VARS Isal_LIBRARY Isal_INCLUDE_DIR VERSION_VAR Isal_VERSION)

if(Isal_FOUND AND NOT TARGET Isal::isal)
  add_library(Isal::isal UNKNOWN IMPORTED)
  set_target_properties(Isal::isal PROPERTIES
    IMPORTED_LOCATION "${Isal_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Isal_INCLUDE_DIR}")
endif()
