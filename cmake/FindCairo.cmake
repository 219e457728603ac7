# Finds cairo and makes the target Cairo::cairo. The library comes without a CMake package.
find_path(Cairo_INCLUDE_DIR cairo.h PATH_SUFFIXES cairo)
find_library(Cairo_LIBRARY cairo)
mark_as_advanced(Cairo_INCLUDE_DIR Cairo_LIBRARY)

set(Cairo_VERSION "")
if(EXISTS "${Cairo_INCLUDE_DIR}/cairo-version.h")
  file(STRINGS "${Cairo_INCLUDE_DIR}/cairo-version.h" _tbtrace_lines REGEX "#define CAIRO_VERSION_[A-Z]+ [0-9]+")
  string(REGEX REPLACE "[^0-9;]" "" Cairo_VERSION "${_tbtrace_lines}")
  string(REPLACE ";" "." Cairo_VERSION "${Cairo_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cairo REQUIRED_VARS Cairo_LIBRARY Cairo_INCLUDE_DIR VERSION_VAR Cairo_VERSION)

if(Cairo_FOUND AND NOT TARGET Cairo::cairo)
  # A program that draws nothing is spared cairo and the libraries of X11 behind it. One item, so
  # that nothing comes between.
  add_library(Cairo::cairo INTERFACE IMPORTED)
  set_target_properties(Cairo::cairo PROPERTIES
    INTERFACE_LINK_LIBRARIES "-Wl,--push-state,--as-needed,${Cairo_LIBRARY},--pop-state"
    INTERFACE_INCLUDE_DIRECTORIES "${Cairo_INCLUDE_DIR}")
endif()
