# The levels of the CPU's variants: one file each, compiled for more than the baseline processor and run only where
# __builtin_cpu_supports agrees. Other files keep the baseline.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(src/cpu/box_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties(src/cpu/box_avx512.c PROPERTIES COMPILE_OPTIONS
    "-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mprefer-vector-width=512")
  set_source_files_properties(src/cpu/order_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties(src/cpu/order_avx512.c PROPERTIES COMPILE_OPTIONS
    "-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mprefer-vector-width=512")
  set_source_files_properties(src/cpu/conv_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties(src/cpu/conv_avx512.c PROPERTIES COMPILE_OPTIONS
    "-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512vnni;-mprefer-vector-width=512")
endif()
# Every level's loops ask for vectors; clang warns where it decides against them, which is its choice to make.
add_compile_options($<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
