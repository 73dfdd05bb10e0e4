// OpenGL's own headers, for the .cpp files of viz/gl and viz only. libOpenGL exports the functions
// of 3.3 core, so no loader is needed.
#pragma once
#ifndef GL_GLEXT_PROTOTYPES
#define GL_GLEXT_PROTOTYPES
#endif
#include <GL/gl.h>
#include <GL/glext.h>
