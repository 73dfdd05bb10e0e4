#include "viz/gl/context.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <cstdio>
#include <utility>

#include "core/check.h"
#include "viz/gl/api.h"

namespace aft::viz::gl {
namespace {

constexpr const char* kRemedy =
    "install Mesa's software OpenGL (Debian: libgl1-mesa-dri libegl1 libopengl0), or work without "
    "pictures through the command line (afterimage train, eval, complete, probe)";

EGLDisplay open_display() {
    const auto get = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
        eglGetProcAddress("eglGetPlatformDisplayEXT"));
    EGLDisplay display = EGL_NO_DISPLAY;
    if (get != nullptr) display = get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display == EGL_NO_DISPLAY) display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    EGLint major = 0, minor = 0;
    AFT_CHECK(display != EGL_NO_DISPLAY && eglInitialize(display, &major, &minor) == EGL_TRUE,
              "no OpenGL: EGL cannot start without a display; {}", kRemedy);
    return display;
}

}  // namespace

OpenGlInfo opengl_info() {
    OpenGlInfo info;
    const auto* const version = reinterpret_cast<const char*>(glGetString(GL_VERSION));
    if (version == nullptr) return info;
    info.version = version;
    // "4.5 (Core Profile) Mesa 22.3.6": every desktop driver starts with the number.
    std::sscanf(version, "%d.%d", &info.major, &info.minor);
    const auto* const renderer = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
    info.renderer = renderer != nullptr ? renderer : "";
    for (const char* const word : {"llvmpipe", "softpipe", "swrast", "Software"})
        info.is_software |= info.renderer.find(word) != std::string::npos;
    return info;
}

void check_opengl_version(int major, int minor) {
    AFT_CHECK(major > 0, "no OpenGL: no context could be made; {}", kRemedy);
    AFT_CHECK(major > 3 || (major == 3 && minor >= 3),
              "OpenGL too old (found {}.{}, needed 3.3): update the graphics driver, or start with "
              "LIBGL_ALWAYS_SOFTWARE=1 to draw on the processor",
              major, minor);
}

HeadlessContext::HeadlessContext() {
    display_ = open_display();
    const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    const bool has_config = eglBindAPI(EGL_OPENGL_API) == EGL_TRUE &&
                            eglChooseConfig(display_, wanted, &config, 1, &count) == EGL_TRUE &&
                            count > 0;
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                              3,
                              EGL_CONTEXT_MINOR_VERSION,
                              3,
                              EGL_CONTEXT_OPENGL_PROFILE_MASK,
                              EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                              EGL_NONE};
    if (has_config) context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, version);
    if (has_config && context_ == EGL_NO_CONTEXT)  // an older one says how old it is
        context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, nullptr);
    AFT_CHECK(context_ != EGL_NO_CONTEXT &&
                  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_TRUE,
              "no OpenGL: EGL has no context (error {:#x}); {}", eglGetError(), kRemedy);
    const OpenGlInfo info = opengl_info();
    check_opengl_version(info.major, info.minor);
}

void HeadlessContext::finish() const {
    glFinish();
}

HeadlessContext::~HeadlessContext() {
    if (context_ == nullptr) return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
    eglTerminate(display_);
}

HeadlessContext::HeadlessContext(HeadlessContext&& other) noexcept
    : display_(std::exchange(other.display_, nullptr)),
      context_(std::exchange(other.context_, nullptr)) {}

}  // namespace aft::viz::gl
