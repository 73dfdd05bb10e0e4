# The small libraries, as one imported target each: Aft::fmt, Aft::json, Aft::cli, Aft::image,
# Aft::archive.
# They come from Debian, or from AFTERIMAGE_BUNDLE (scripts/setup.sh --bundle) on a machine without them.
find_package(Threads REQUIRED)

function(aft_header_library name header)
    find_path(${name}_INCLUDE ${header} HINTS ${AFTERIMAGE_BUNDLE}/include REQUIRED)
    add_library(Aft::${name} INTERFACE IMPORTED)
    if(NOT ${name}_INCLUDE STREQUAL "/usr/include")
        target_include_directories(Aft::${name} SYSTEM INTERFACE ${${name}_INCLUDE})
    endif()
endfunction()

# LibTorch's own fmt 12 would hide this one: a folder with nothing but fmt in it goes first.
find_path(FMT_INCLUDE fmt/format.h HINTS ${AFTERIMAGE_BUNDLE}/include REQUIRED)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/fmt-first)
file(CREATE_LINK ${FMT_INCLUDE}/fmt ${CMAKE_BINARY_DIR}/fmt-first/fmt SYMBOLIC)
add_library(Aft::fmt INTERFACE IMPORTED)
target_include_directories(Aft::fmt SYSTEM BEFORE INTERFACE ${CMAKE_BINARY_DIR}/fmt-first)
if(AFTERIMAGE_BUNDLE)
    target_compile_definitions(Aft::fmt INTERFACE FMT_HEADER_ONLY=1)
else()
    find_library(FMT_LIBRARY NAMES fmt REQUIRED)
    target_link_libraries(Aft::fmt INTERFACE ${FMT_LIBRARY})
endif()

aft_header_library(json nlohmann/json.hpp)
aft_header_library(cli CLI/CLI.hpp)

find_path(STB_INCLUDE stb/stb_image.h HINTS ${AFTERIMAGE_BUNDLE}/include REQUIRED)
find_path(JPEG_INCLUDE jpeglib.h HINTS ${AFTERIMAGE_BUNDLE}/include REQUIRED)
find_library(JPEG_LIBRARY NAMES jpeg libjpeg.a HINTS ${AFTERIMAGE_BUNDLE}/lib REQUIRED)
find_library(ZLIB_LIBRARY NAMES z libz.a HINTS ${AFTERIMAGE_BUNDLE}/lib REQUIRED)
add_library(Aft::image INTERFACE IMPORTED)
foreach(folder ${STB_INCLUDE} ${JPEG_INCLUDE})
    if(NOT folder STREQUAL "/usr/include")
        target_include_directories(Aft::image SYSTEM INTERFACE ${folder})
    endif()
endforeach()
target_link_libraries(Aft::image INTERFACE ${JPEG_LIBRARY} ${ZLIB_LIBRARY})

# Tar shards of pictures.
find_path(ARCHIVE_INCLUDE archive_entry.h HINTS ${AFTERIMAGE_BUNDLE}/include)
find_library(ARCHIVE_LIBRARY NAMES archive libarchive.a HINTS ${AFTERIMAGE_BUNDLE}/lib)
if(NOT ARCHIVE_INCLUDE OR NOT ARCHIVE_LIBRARY)
    message(FATAL_ERROR "libarchive is missing (Debian's libarchive-dev): run scripts/setup.sh; an offline server needs "
        "a bundle of this version's scripts/setup.sh --bundle")
endif()
add_library(Aft::archive INTERFACE IMPORTED)
if(NOT ARCHIVE_INCLUDE STREQUAL "/usr/include")
    target_include_directories(Aft::archive SYSTEM INTERFACE ${ARCHIVE_INCLUDE})
endif()
target_link_libraries(Aft::archive INTERFACE ${ARCHIVE_LIBRARY})
if(ARCHIVE_LIBRARY MATCHES "\\.a$")
    # Its other formats need eight more libraries: they are not reached from tar, and dropped.
    target_link_options(Aft::archive INTERFACE -Wl,--gc-sections)
endif()
