# Tests on several ranks (label mpi): tests/test_mpi.c under mpirun, tests/test_mpi.py for the command.
if(NOT BUILD_TESTING)
  return()
endif()
if(NOT TW_WITH_MPI)
  add_test(NAME mpi COMMAND ${CMAKE_COMMAND} -E echo
    "skipped: built without MPI (Debian: libopenmpi-dev, openmpi-bin; TW_MPI is ${TW_MPI})")
  set_tests_properties(mpi PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: built without MPI" LABELS mpi)
  return()
endif()

add_executable(test_mpi tests/test_mpi.c)
target_include_directories(test_mpi PRIVATE src)
target_link_libraries(test_mpi PRIVATE tilewise_mpi_static warnings m)
set_target_properties(test_mpi PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests LINKER_LANGUAGE C)
# Several tests at a time share the processors: threads that wait do not spin. Under sanitizers Open MPI leaks.
set(TW_MPI_ENVIRONMENT OMP_WAIT_POLICY=passive LSAN_OPTIONS=detect_leaks=0)
foreach(ranks 1 2 3 4 7)
  add_test(NAME mpi_${ranks} COMMAND ${MPIEXEC_EXECUTABLE} -n ${ranks} ${TW_MPIRUN_OPTIONS} $<TARGET_FILE:test_mpi>)
  set_tests_properties(mpi_${ranks} PROPERTIES LABELS mpi PROCESSORS 2 TIMEOUT 600
    ENVIRONMENT "${TW_MPI_ENVIRONMENT}")
endforeach()
if(Python3_FOUND)
  add_test(NAME mpi_command COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/test_mpi.py $<TARGET_FILE:tilewise>
    ${MPIEXEC_EXECUTABLE} ${TW_MPIRUN_OPTIONS})
  set_tests_properties(mpi_command PROPERTIES LABELS mpi PROCESSORS 2 TIMEOUT 600
    ENVIRONMENT "${TW_MPI_ENVIRONMENT}")
endif()
