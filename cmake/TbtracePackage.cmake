# What find_package(tbtrace) reads, beside the exported targets.
set(TBTRACE_PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/tbtrace)
install(EXPORT tbtraceTargets NAMESPACE tbtrace:: DESTINATION ${TBTRACE_PACKAGE_FOLDER})
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
