# The libraries, their headers, the licence, and what find_package(tbtrace) and pkg-config read.
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
  install(TARGETS tbtrace_torch EXPORT tbtraceTorchTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT tbtraceTorchTargets NAMESPACE tbtrace:: DESTINATION ${TBTRACE_PACKAGE_FOLDER})
endif()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What consumers of the static library link to, too; the shared one finds its own. PACKAGE=VERSION: the numbers that these
# libraries change with their ABI have to be those of the copy that this was compiled with.
set(TBTRACE_PACKAGES)
set(TBTRACE_TORCH_KIND "")
if(LibTorch_CUDA)
  set(TBTRACE_TORCH_KIND " for CUDA")
endif()
if(NOT BUILD_SHARED_LIBS)
  string(REGEX MATCH "^[0-9]+[.][0-9]+" simdjson_abi "${simdjson_VERSION}")
  string(REGEX MATCH "^[0-9]+" fmt_abi "${fmt_VERSION}")
  set(TBTRACE_PACKAGES simdjson=${simdjson_abi} fmt=${fmt_abi} Threads)
  if(TBTRACE_WITH_PROTOBUF AND Protobuf_CONFIG)
    string(REGEX MATCH "^[0-9]+[.][0-9]+" protobuf_abi "${Protobuf_VERSION}")
    list(APPEND TBTRACE_PACKAGES Protobuf=${protobuf_abi})
  endif()
endif()
if(BUILD_SHARED_LIBS)
  set(TBTRACE_LIBRARIES)
endif()
list(JOIN TBTRACE_PACKAGES " " TBTRACE_PACKAGES)
list(JOIN TBTRACE_LIBRARIES " " TBTRACE_LIBRARIES)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tbtraceConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tbtraceConfig.cmake INSTALL_DESTINATION ${TBTRACE_PACKAGE_FOLDER})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tbtraceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/tbtraceConfig.cmake
  ${PROJECT_BINARY_DIR}/tbtraceConfigVersion.cmake
  DESTINATION ${TBTRACE_PACKAGE_FOLDER})
foreach(name FindLibTorch TbtraceLibTorchFolders)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/${name}.cmake DESTINATION ${TBTRACE_PACKAGE_FOLDER})
endforeach()

set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH TBTRACE_PC_TO_PREFIX /${folder} /)
set(TBTRACE_PC_REQUIRES "")
set(TBTRACE_PC_CFLAGS "")
set(TBTRACE_PC_LIBS "")
if(BUILD_SHARED_LIBS)
  set(TBTRACE_PC_CFLAGS " -DTBTRACE_SHARED_LIBRARY")
else()
  set(TBTRACE_PC_REQUIRES "simdjson fmt")
  set(pc_of_ISAL libisal)
  set(pc_of_ZSTD libzstd)
  set(pc_of_PNG libpng)
  set(pc_of_PROTOBUF protobuf-lite)
  foreach(option ISAL ZSTD PNG PROTOBUF)
    if(TBTRACE_WITH_${option})
      string(APPEND TBTRACE_PC_REQUIRES " ${pc_of_${option}}")
    endif()
  endforeach()
  if(NOT TBTRACE_WITH_ISAL)
    string(APPEND TBTRACE_PC_REQUIRES " zlib")
  endif()
  if(Libbacktrace_FOUND)
    string(APPEND TBTRACE_PC_LIBS " ${Libbacktrace_LIBRARY}")
  endif()
  if(CMAKE_DL_LIBS)
    string(APPEND TBTRACE_PC_LIBS " -l${CMAKE_DL_LIBS}")
  endif()
  string(APPEND TBTRACE_PC_LIBS " -pthread")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/tbtrace.pc.in ${PROJECT_BINARY_DIR}/tbtrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tbtrace.pc DESTINATION ${folder})
