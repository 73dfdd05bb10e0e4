# aft_warnings: warnings are errors in our own code, with the compiler of the tests: others warn of more, in headers of
# libraries too (GCC 13 in fmt's). aft_sanitizers: optimisation, sanitizers and coverage of the presets.
add_library(aft_warnings INTERFACE)
target_compile_options(aft_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
    -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
    target_compile_options(aft_warnings INTERFACE -Werror)
endif()
add_library(aft_sanitizers INTERFACE)
if(AFTERIMAGE_COVERAGE)
    target_compile_options(aft_sanitizers INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(aft_sanitizers INTERFACE --coverage)
endif()
if(NOT AFTERIMAGE_OPTIMIZE STREQUAL "-O2")
    separate_arguments(optimize UNIX_COMMAND "${AFTERIMAGE_OPTIMIZE}")
    target_compile_options(aft_sanitizers INTERFACE ${optimize})
endif()
if(AFTERIMAGE_SANITIZE)
    target_compile_options(aft_sanitizers INTERFACE -fsanitize=${AFTERIMAGE_SANITIZE} -fno-omit-frame-pointer
        -Wno-error)
    target_link_options(aft_sanitizers INTERFACE -fsanitize=${AFTERIMAGE_SANITIZE})
    if(AFTERIMAGE_SANITIZE MATCHES fuzzer)
        target_compile_options(aft_sanitizers INTERFACE -fno-sanitize-recover=all)
    endif()
    if(AFTERIMAGE_SANITIZE MATCHES undefined)
        # A third of the time to compile, and then alignment and pointer-overflow another (jobs/complete.cpp: 19.6 to
        # 13.2 s). The address sanitizer stops at the access itself; what is only misaligned is not found.
        target_compile_options(aft_sanitizers INTERFACE -fno-sanitize=null,object-size,vptr,alignment,pointer-overflow)
    endif()
endif()
