# Torch::cpu: LibTorch 2.11 from .deps/torch, from LIBTORCH_ROOT, or from a Python that has torch 2.11.
# Only torch_cpu and c10 are linked; the CUDA part is opened at run time where there is a device (model/device.h).
set(LIBTORCH_ROOT "$ENV{LIBTORCH_ROOT}" CACHE STRING
    "Folder with LibTorch's include/ and lib/, or `python` for the torch of the machine's Python")
if(NOT LIBTORCH_ROOT AND EXISTS ${CMAKE_SOURCE_DIR}/.deps/torch/lib/libtorch_cpu.so)
    set(LIBTORCH_ROOT ${CMAKE_SOURCE_DIR}/.deps/torch CACHE STRING "" FORCE)
elseif(NOT LIBTORCH_ROOT OR LIBTORCH_ROOT STREQUAL "python")
    execute_process(COMMAND python3 -c
        "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
        OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT found)
        message(FATAL_ERROR "LibTorch not found: run scripts/setup.sh, or set LIBTORCH_ROOT")
    endif()
    set(LIBTORCH_ROOT ${found} CACHE STRING "" FORCE)
endif()
get_filename_component(LIBTORCH_REAL ${LIBTORCH_ROOT} REALPATH)
foreach(library torch_cpu c10)
    if(NOT EXISTS ${LIBTORCH_REAL}/lib/lib${library}.so)
        message(FATAL_ERROR "no lib${library}.so in ${LIBTORCH_REAL}/lib: LIBTORCH_ROOT must be a LibTorch folder")
    endif()
endforeach()
set(version "unknown")
if(EXISTS ${LIBTORCH_REAL}/version.py)
    file(STRINGS ${LIBTORCH_REAL}/version.py version REGEX "^__version__")
    string(REGEX REPLACE ".*['\"](.*)['\"].*" "\\1" version "${version}")
    if(NOT version MATCHES "^2\\.11\\.")
        message(FATAL_ERROR "LibTorch 2.11 is needed, found ${version} in ${LIBTORCH_REAL}")
    endif()
endif()
message(STATUS "LibTorch ${version}: ${LIBTORCH_REAL}")

add_library(Torch::cpu INTERFACE IMPORTED)
# Debian's fmt first: the wheel's newer copy would hide it.
target_include_directories(Torch::cpu SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/fmt-first ${LIBTORCH_REAL}/include
    ${LIBTORCH_REAL}/include/torch/csrc/api/include)
# Gloo's headers, for the declarations that c10d's need: what is linked is LibTorch's own copy.
find_path(GLOO_INCLUDE gloo/context.h HINTS ${AFTERIMAGE_BUNDLE}/include)
if(NOT GLOO_INCLUDE)
    message(FATAL_ERROR "the headers of Gloo are missing (Debian's libgloo-dev): run scripts/setup.sh; an offline server "
        "needs a bundle of this version's scripts/setup.sh --bundle")
elseif(NOT GLOO_INCLUDE STREQUAL "/usr/include")
    target_include_directories(Torch::cpu SYSTEM INTERFACE ${GLOO_INCLUDE})
endif()
# By its file, the shared libstdc++: LibTorch uses it, and a second one, linked statically where a compiler finds no other,
# would free what LibTorch's made ("free(): invalid pointer" at exit).
target_link_libraries(Torch::cpu INTERFACE ${LIBTORCH_REAL}/lib/libtorch_cpu.so ${LIBTORCH_REAL}/lib/libc10.so
    -l:libstdc++.so.6)
target_link_options(Torch::cpu INTERFACE -Wl,--allow-shlib-undefined -Wl,-rpath-link,${LIBTORCH_REAL}/lib)

function(libtorch_set_rpath target)
    set_target_properties(${target} PROPERTIES BUILD_RPATH ${LIBTORCH_REAL}/lib INSTALL_RPATH ${LIBTORCH_REAL}/lib)
endfunction()
