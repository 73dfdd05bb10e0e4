# Several files compiled as one: most of the time to compile a small file is headers. CMake's own unity builds include by
# absolute path, which no compiler cache finds again in another folder, and need names that no two files share.

# aft_batches(LIST NAME SIZE [EXCEPT FILE...]): replaces the files of LIST by batches of at most SIZE in the build folder,
# grouped by batches.py. Files with options of their own stay alone.
function(aft_batches list name size)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "EXCEPT")
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(alone "")
    set(together "")
    foreach(file IN LISTS ${list})
        get_source_file_property(options ${file} COMPILE_OPTIONS)
        get_source_file_property(definitions ${file} COMPILE_DEFINITIONS)
        if(options OR definitions OR file IN_LIST arg_EXCEPT)
            list(APPEND alone ${file})
        else()
            list(APPEND together ${file})
        endif()
    endforeach()
    execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/batches.py ${size} ${together}
        OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    # A line is a list by itself: | parts the lines.
    string(REPLACE ";" "|" lines "${lines}")
    string(REPLACE "\n" ";" lines "${lines}")
    set(number 0)
    foreach(line IN LISTS lines)
        string(REPLACE "|" ";" files "${line}")
        set(text "")
        foreach(file IN LISTS files)
            file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${file})
            string(APPEND text "#include \"${path}\"\n")
        endforeach()
        set(batch ${CMAKE_BINARY_DIR}/batches/${name}_${number}.cpp)
        file(GENERATE OUTPUT ${batch} CONTENT "${text}")
        list(APPEND alone ${batch})
        math(EXPR number "${number} + 1")
    endforeach()
    set(${list} ${alone} PARENT_SCOPE)
endfunction()
