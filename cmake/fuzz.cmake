# Fuzzers: every tests/fuzz/fuzz_NAME.c defines LLVMFuzzerTestOneInput; its kept corpus is tests/fuzz/corpus/fuzz_NAME.
# With TW_FUZZ they are libFuzzer's programs, otherwise tests that replay the corpus with any compiler.
option(TW_FUZZ "Build the fuzzers with libFuzzer (clang; TW_SANITIZE must hold fuzzer-no-link)" OFF)

file(GLOB TW_FUZZERS CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source ${TW_FUZZERS})
  cmake_path(GET source STEM name)
  if(TW_FUZZ)
    add_executable(${name} ${source})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  elseif(BUILD_TESTING)
    add_executable(${name} ${source} tests/fuzz/replay.c)
    add_test(NAME ${name} COMMAND ${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  else()
    continue()
  endif()
  target_link_libraries(${name} PRIVATE $<IF:$<TARGET_EXISTS:tilewise_program>,tilewise_program,tilewise_verify> warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endforeach()
