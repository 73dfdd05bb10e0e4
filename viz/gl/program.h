// A shader program from two files, move-only. `#include "name"` in a shader names a file beside it.
// A compile error is an aft::Error that names file and line. Window thread with its context
// current.
#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace aft::viz::gl {

class Program {
  public:
    Program() = default;  // nothing, id 0
    Program(const std::filesystem::path& vertex, const std::filesystem::path& fragment);
    ~Program();
    Program(Program&& other) noexcept;
    Program& operator=(Program&& other) noexcept;

    void use() const;
    // The program must be in use. A name that the program does not have is a programmer mistake.
    void set(const char* name, int value) const;
    void set(const char* name, float x, float y) const;
    void set(const char* name, const std::array<float, 3>& rgb) const;
    void draw_triangle() const;  // one triangle that covers the viewport

    [[nodiscard]] unsigned id() const { return id_; }

  private:
    [[nodiscard]] int place_of(const char* name) const;
    unsigned id_ = 0, vertices_ = 0;  // an empty vertex array: positions come from gl_VertexID
};

// A shader's text with its includes put in, and #line marks; sources[n] is the file of number n.
struct ShaderText {
    std::string text;
    std::vector<std::filesystem::path> sources;
};
[[nodiscard]] ShaderText read_shader(const std::filesystem::path& path);
// "0:12(3): error: x" or "0(12) : error: x" -> "shaders/map.frag:12: error: x".
[[nodiscard]] std::string name_shader_lines(const std::string& log, const ShaderText& shader);

}  // namespace aft::viz::gl
