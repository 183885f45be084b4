# Several machines: libtilewise_mpi for programs that have a communicator, and the command under mpirun. The core
# library never links MPI.
set(TW_MPI AUTO CACHE STRING "Several machines by MPI: AUTO (where it is found), ON or OFF")
set_property(CACHE TW_MPI PROPERTY STRINGS AUTO ON OFF)
set(TW_MPIRUN_OPTIONS "--allow-run-as-root;--oversubscribe;--bind-to;none;--mca;mpi_yield_when_idle;1" CACHE STRING
    "Options of mpirun in the tests (Open MPI 4: root, more ranks than processors, no spinning)")

set(TW_WITH_MPI 0)
if(TW_MPI STREQUAL "AUTO")
  find_package(MPI QUIET COMPONENTS C)
elseif(TW_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()
if(TW_MPI AND MPI_C_FOUND)
  set(TW_WITH_MPI 1)
endif()
message(STATUS "MPI: ${TW_WITH_MPI}")
if(NOT TW_WITH_MPI)
  return()
endif()

# src/mpi/command.c is the command's part (cmake/programs.cmake), absent.c its stand-in without MPI.
file(GLOB TW_MPI_SOURCES CONFIGURE_DEPENDS src/mpi/*.c)
list(FILTER TW_MPI_SOURCES EXCLUDE REGEX "(command|absent)\\.c$")
foreach(kind STATIC SHARED)
  string(TOLOWER ${kind} lower)
  set(target tilewise_mpi_${lower})
  add_library(${target} ${kind} ${TW_MPI_SOURCES})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME tilewise_mpi EXPORT_NAME mpi_${lower})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> PRIVATE src)
  target_compile_definitions(${target} PRIVATE TW_BUILDING_SHARED)
  target_link_libraries(${target} PUBLIC tilewise_${lower} MPI::MPI_C PRIVATE $<BUILD_INTERFACE:warnings> m)
endforeach()
set_target_properties(tilewise_mpi_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/tilewise.map)
target_link_options(tilewise_mpi_shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/tilewise.map)

# What docs/scale.md measures.
add_executable(bench_ranks EXCLUDE_FROM_ALL bench/ranks.c)
target_link_libraries(bench_ranks PRIVATE tilewise_mpi_static warnings)
set_target_properties(bench_ranks PROPERTIES LINKER_LANGUAGE C)
