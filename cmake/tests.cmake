# Tests for ctest. Every tests/test_NAME.c is a cmocka program: adding a test is adding its file.
include(CTest)
if(NOT BUILD_TESTING)
  return()
endif()
find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
endif()
if(NOT CMOCKA_FOUND)
  message(STATUS "Tests: not built, cmocka is not installed (Debian: libcmocka-dev)")
  return()
endif()
find_package(Threads REQUIRED)

# These see what a user sees: the shared library and the public header. The others may look inside.
set(TW_OUTER_TESTS test_api test_plan test_cases test_filters test_props test_float test_part test_tally test_spread)
file(GLOB TW_TESTS CONFIGURE_DEPENDS tests/test_*.c)
list(FILTER TW_TESTS EXCLUDE REGEX "test_mpi[^/]*$") # mpi_tests.cmake
foreach(source ${TW_TESTS})
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  if(name IN_LIST TW_OUTER_TESTS)
    target_link_libraries(${name} PRIVATE tilewise_shared)
  else()
    target_link_libraries(${name} PRIVATE tilewise_program)
  endif()
  target_link_libraries(${name} PRIVATE warnings PkgConfig::CMOCKA Threads::Threads m)
  target_compile_definitions(${name} PRIVATE TW_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
endforeach()

# Every tests/test_NAME.py tests the command, whose path is its argument.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  file(GLOB TW_PYTHON_TESTS CONFIGURE_DEPENDS tests/test_*.py)
  list(FILTER TW_PYTHON_TESTS EXCLUDE REGEX "test_mpi[^/]*$")
  foreach(source ${TW_PYTHON_TESTS})
    cmake_path(GET source STEM name)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${source} $<TARGET_FILE:tilewise>)
  endforeach()
  add_test(NAME include_rules COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/check_includes.py)
  add_test(NAME readme_example COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/check_readme.py)
endif()

add_test(NAME verify COMMAND tilewise verify --device cpu --cases 60)
add_test(NAME exported_symbols
  COMMAND ${CMAKE_SOURCE_DIR}/scripts/check_symbols.sh $<TARGET_FILE:tilewise_shared> $<TARGET_FILE:tilewise_static>)
# A sanitizer's runtime would have to come first in the outside programs: they are built without.
if(NOT TW_SANITIZE)
  add_test(NAME outside COMMAND ${CMAKE_SOURCE_DIR}/tests/outside/run.sh ${CMAKE_BINARY_DIR} ${CMAKE_C_COMPILER})
endif()

# Threads that wait without spinning: several tests at a time share the processors.
get_property(TW_TEST_NAMES DIRECTORY PROPERTY TESTS)
set_tests_properties(${TW_TEST_NAMES} PROPERTIES TIMEOUT 300 ENVIRONMENT OMP_WAIT_POLICY=passive)
