# The levels of the CPU's variants: one file each, by its name compiled for more than the baseline processor, and run
# only where __builtin_cpu_supports agrees. Other files keep the baseline.
file(GLOB TW_AVX2_SOURCES CONFIGURE_DEPENDS src/cpu/*_avx2.c)
file(GLOB TW_AVX512_SOURCES CONFIGURE_DEPENDS src/cpu/*_avx512.c)
set(TW_AVX2 -mavx2 -mfma)
set(TW_AVX512 ${TW_AVX2} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${TW_AVX2_SOURCES} PROPERTIES COMPILE_OPTIONS "${TW_AVX2}")
  set_source_files_properties(${TW_AVX512_SOURCES} PROPERTIES COMPILE_OPTIONS "${TW_AVX512}")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/cpu/conv_avx512.c
    PROPERTIES COMPILE_OPTIONS "${TW_AVX512};-mavx512vnni")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/cpu/lut_avx512.c
    PROPERTIES COMPILE_OPTIONS "${TW_AVX512};-mavx512vbmi")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/cpu/histogram_avx512.c
    PROPERTIES COMPILE_OPTIONS "${TW_AVX512};-mavx512vbmi;-mavx512vbmi2;-mavx512bitalg;-mgfni;-mpopcnt")
endif()
# Loops of the levels ask for vectors; clang warns where it decides against them, as under sanitizers: its choice to make.
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  foreach(operation box order)
    set_property(SOURCE src/cpu/${operation}_c.c src/cpu/${operation}_avx2.c src/cpu/${operation}_avx512.c
      APPEND PROPERTY COMPILE_OPTIONS -Wno-pass-failed)
  endforeach()
endif()
