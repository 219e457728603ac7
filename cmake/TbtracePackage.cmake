# The libraries, their headers, and what find_package(tbtrace) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(TBTRACE_PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/tbtrace)

install(TARGETS tbtrace_core EXPORT tbtraceTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tbtrace
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT tbtraceTargets NAMESPACE tbtrace:: DESTINATION ${TBTRACE_PACKAGE_FOLDER})
if(TARGET tbtrace_torch)
  install(TARGETS tbtrace_torch EXPORT tbtraceTorchTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT tbtraceTorchTargets NAMESPACE tbtrace:: DESTINATION ${TBTRACE_PACKAGE_FOLDER})
endif()

# What consumers of the static library link to, too; the shared one finds its own.
set(TBTRACE_PACKAGES)
if(NOT BUILD_SHARED_LIBS)
  set(TBTRACE_PACKAGES simdjson fmt Threads)
  foreach(package Isal Cairo PNG Protobuf)
    string(TOUPPER ${package} option)
    if(TBTRACE_WITH_${option})
      list(APPEND TBTRACE_PACKAGES ${package})
    endif()
  endforeach()
  if(NOT TBTRACE_WITH_ISAL)
    list(APPEND TBTRACE_PACKAGES ZLIB)
  endif()
  if(Libbacktrace_FOUND)
    list(APPEND TBTRACE_PACKAGES Libbacktrace)
  endif()
endif()
list(JOIN TBTRACE_PACKAGES " " TBTRACE_PACKAGES)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tbtraceConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tbtraceConfig.cmake INSTALL_DESTINATION ${TBTRACE_PACKAGE_FOLDER})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tbtraceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/tbtraceConfig.cmake
  ${PROJECT_BINARY_DIR}/tbtraceConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindCairo.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindIsal.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindLibTorch.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindLibbacktrace.cmake
  DESTINATION ${TBTRACE_PACKAGE_FOLDER})
