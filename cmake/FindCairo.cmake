# Finds cairo's headers, Cairo_INCLUDE_DIR. Nothing links the library, which tbtrace opens at run time.
find_path(Cairo_INCLUDE_DIR cairo.h PATH_SUFFIXES cairo)
mark_as_advanced(Cairo_INCLUDE_DIR)

set(Cairo_VERSION "")
if(EXISTS "${Cairo_INCLUDE_DIR}/cairo-version.h")
  file(STRINGS "${Cairo_INCLUDE_DIR}/cairo-version.h" _tbtrace_lines REGEX "#define CAIRO_VERSION_[A-Z]+ [0-9]+")
  string(REGEX REPLACE "[^0-9;]" "" Cairo_VERSION "${_tbtrace_lines}")
  string(REPLACE ";" "." Cairo_VERSION "${Cairo_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cairo REQUIRED_VARS Cairo_INCLUDE_DIR VERSION_VAR Cairo_VERSION)
