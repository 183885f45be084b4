# The lists of exchanges that src/cuda/rank_halving.cu compiles, made by the CPU's own networks.
add_executable(median_networks cmake/median_networks.c src/cpu/order_network.c)
target_include_directories(median_networks PRIVATE include src)
target_link_libraries(median_networks PRIVATE warnings)
foreach(side 7 9 11)
  set(list ${PROJECT_BINARY_DIR}/generated/cuda/median_network_${side}.cuh)
  add_custom_command(OUTPUT ${list}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated/cuda
    COMMAND median_networks ${side} 4 2 > ${list}
    DEPENDS median_networks VERBATIM)
  list(APPEND TW_CUDA_SOURCES ${list})
endforeach()
set_source_files_properties(src/cuda/rank_halving.cu PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated)
