# The command `tilewise`, its manual page and completions, and what it is made of besides the library.
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
include(cmake/io.cmake)

# Everything but main(), for the fuzzer too.
file(GLOB TW_PROGRAM_SOURCES CONFIGURE_DEPENDS src/cli/*.c)
list(FILTER TW_PROGRAM_SOURCES EXCLUDE REGEX "cli/main\\.c$")
add_library(tilewise_program STATIC ${TW_PROGRAM_SOURCES})
target_include_directories(tilewise_program PUBLIC src)
target_compile_definitions(tilewise_program PRIVATE TW_WITH_CUDA=${TW_WITH_CUDA})
target_link_libraries(tilewise_program PUBLIC tilewise_verify tilewise_io PRIVATE PkgConfig::JANSSON warnings m)

# On several ranks where there is MPI.
if(TW_WITH_MPI)
  add_executable(tilewise src/cli/main.c src/mpi/command.c)
  target_link_libraries(tilewise PRIVATE tilewise_mpi_static PkgConfig::JANSSON)
else()
  add_executable(tilewise src/cli/main.c src/mpi/absent.c)
endif()
target_link_libraries(tilewise PRIVATE tilewise_program warnings)
# CMake would take the library's kernels for a reason to link by nvcc: no C++ runtime is needed.
set_target_properties(tilewise PROPERTIES LINKER_LANGUAGE C)

# What bench/explain.py compares with a GPU's counters.
add_executable(explain_probe EXCLUDE_FROM_ALL bench/explain_probe.c)
target_link_libraries(explain_probe PRIVATE tilewise_verify warnings)
set_target_properties(explain_probe PROPERTIES LINKER_LANGUAGE C)

# The program writes its own manual page and completions: they cannot disagree with it.
set(TW_PAGES ${CMAKE_BINARY_DIR}/pages)
function(tilewise_page file)
  cmake_path(GET file PARENT_PATH folder)
  add_custom_command(OUTPUT ${TW_PAGES}/${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${TW_PAGES}/${folder}
    COMMAND $<TARGET_FILE:tilewise> help ${ARGN} > ${TW_PAGES}/${file}
    DEPENDS tilewise VERBATIM)
  set(TW_PAGE_FILES ${TW_PAGE_FILES} ${TW_PAGES}/${file} PARENT_SCOPE)
endfunction()
tilewise_page(man1/tilewise.1 --man)
tilewise_page(bash/tilewise --completion bash)
tilewise_page(zsh/_tilewise --completion zsh)
tilewise_page(fish/tilewise.fish --completion fish)
add_custom_target(pages ALL DEPENDS ${TW_PAGE_FILES})

install(TARGETS tilewise)
install(FILES ${TW_PAGES}/man1/tilewise.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${TW_PAGES}/bash/tilewise DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${TW_PAGES}/zsh/_tilewise DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${TW_PAGES}/fish/tilewise.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
