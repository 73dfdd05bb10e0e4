# Which files are compiled with the precompiled header of LibTorch: those that include LibTorch, themselves or through
# headers of ours. The others are quicker without (bench/timing/child.cpp: 2.9 s against 4.0).

# yes or no -> out
function(aft_uses_torch file out)
    get_property(uses GLOBAL PROPERTY aft_uses_torch_${file})
    if("${uses}" STREQUAL "")
        set(uses no)
        file(STRINGS ${file} includes REGEX "^#include (<(ATen|c10|torch)/|\"(core|model|bench|tests)/)")
        foreach(line IN LISTS includes)
            if(line MATCHES "\"(.*)\"" AND NOT uses)
                aft_uses_torch(${CMAKE_SOURCE_DIR}/${CMAKE_MATCH_1} uses)
            elseif(line MATCHES "<")
                set(uses yes)
            endif()
        endforeach()
        set_property(GLOBAL PROPERTY aft_uses_torch_${file} ${uses})
    endif()
    set(${out} ${uses} PARENT_SCOPE)
endfunction()

function(aft_skip_precompiled)
    foreach(source ${ARGN})
        aft_uses_torch(${source} uses)
        if(NOT uses)
            set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
        endif()
    endforeach()
endfunction()
