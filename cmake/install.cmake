# What an installation holds for programs that use the library: header, libraries, pkg-config file, CMake package.
include(CMakePackageConfigHelpers)

set(TW_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tilewise)
# tilewise::tilewise needs nothing to be found; the static library brings the search for its own needs.
set_target_properties(tilewise_shared PROPERTIES EXPORT_NAME tilewise)
install(FILES include/tilewise.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(kind shared static)
  install(TARGETS tilewise_${kind} EXPORT tilewise_${kind})
  install(EXPORT tilewise_${kind} NAMESPACE tilewise:: DESTINATION ${TW_PACKAGE_DIR})
endforeach()

configure_package_config_file(cmake/tilewise-config.cmake.in tilewise-config.cmake INSTALL_DESTINATION ${TW_PACKAGE_DIR})
write_basic_package_version_file(tilewise-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tilewise-config.cmake ${CMAKE_BINARY_DIR}/tilewise-config-version.cmake
  DESTINATION ${TW_PACKAGE_DIR})

# Paths in the .pc file are relative to it, so that an installation can be moved.
set(TW_PC_PRIVATE "${OpenMP_C_FLAGS} -lm")
if(TW_WITH_CUDA)
  string(APPEND TW_PC_PRIVATE " ${CUDA_cudart_static_LIBRARY} -ldl -lrt -lpthread")
endif()
file(RELATIVE_PATH TW_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/tilewise.pc.in tilewise.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tilewise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TW_WITH_MPI)
  install(FILES include/tilewise_mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS tilewise_mpi_shared tilewise_mpi_static)
  configure_file(cmake/tilewise_mpi.pc.in tilewise_mpi.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/tilewise_mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
