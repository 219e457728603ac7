# Finds libzstd and makes the target Zstd::zstd. Debian's library comes without a CMake package.
find_path(Zstd_INCLUDE_DIR zstd.h)
find_library(Zstd_LIBRARY zstd)
mark_as_advanced(Zstd_INCLUDE_DIR Zstd_LIBRARY)

set(Zstd_VERSION "")
if(EXISTS "${Zstd_INCLUDE_DIR}/zstd.h")
  file(STRINGS "${Zstd_INCLUDE_DIR}/zstd.h" _tbtrace_lines REGEX "#define ZSTD_VERSION_(MAJOR|MINOR|RELEASE) +[0-9]+")
  string(REGEX REPLACE "[^0-9;]" "" Zstd_VERSION "${_tbtrace_lines}")
  string(REPLACE ";" "." Zstd_VERSION "${Zstd_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Zstd REQUIRED_VARS Zstd_LIBRARY Zstd_INCLUDE_DIR VERSION_VAR Zstd_VERSION)

if(Zstd_FOUND AND NOT TARGET Zstd::zstd)
  add_library(Zstd::zstd UNKNOWN IMPORTED)
  set_target_properties(Zstd::zstd PROPERTIES
    IMPORTED_LOCATION "${Zstd_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Zstd_INCLUDE_DIR}")
endif()
