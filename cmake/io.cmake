# Image files: the part of the command that knows formats, on libpng, libjpeg-turbo and libtiff.
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(TIFF 4.5 REQUIRED)
find_package(ZLIB REQUIRED)

file(GLOB TW_IO_SOURCES CONFIGURE_DEPENDS src/io/*.c)
add_library(tilewise_io STATIC ${TW_IO_SOURCES})
target_include_directories(tilewise_io PUBLIC include src)
target_link_libraries(tilewise_io PRIVATE warnings PUBLIC tilewise_static PNG::PNG JPEG::JPEG TIFF::TIFF ZLIB::ZLIB m)
