# `cpack -G DEB` makes one Debian package: program, library, headers, and what CMake and pkg-config
# read. tools/package.sh configures for it, with a shared library, so that nothing else has to be
# installed to link it.
set(CPACK_PACKAGE_NAME tbtrace)
set(CPACK_PACKAGE_VENDOR "the tbtrace authors")
set(CPACK_PACKAGE_CONTACT "the tbtrace authors <tbtrace@example.invalid>")  # dpkg demands an address
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Prints the operator tables of saved traces, draws their flame graphs and writes
log directories for TensorBoard. With the C++ library that does it.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
# Opened at run time, so dpkg-shlibdeps does not find them.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libarchive13)
if(TBTRACE_WITH_CAIRO)
  string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", libcairo2")
endif()
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)  # and with it the call of ldconfig
include(CPack)
