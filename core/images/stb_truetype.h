// stb's TrueType, all of it static in the file that includes this: core/figure draws letters with
// it, viz/svg reads their outlines.
#pragma once
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#define stbrp_node stbtt_packing_node  // Dear ImGui has another, and files are compiled as one
#include <stb/stb_truetype.h>
#undef stbrp_node
#pragma GCC diagnostic pop
