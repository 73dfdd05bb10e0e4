#include "viz/gl/program.h"

#include <fstream>
#include <regex>
#include <sstream>
#include <utility>

#include "core/check.h"
#include "viz/gl/api.h"

namespace aft::viz::gl {
namespace {

void append_shader(const std::filesystem::path& path, ShaderText& out) {
    AFT_CHECK(out.sources.size() < 16, "{}: shaders include each other in a circle", path.string());
    std::ifstream file(path);
    AFT_CHECK(file.good(), "cannot read the shader {}; the program's shaders/ folder is incomplete",
              path.string());
    const size_t number = out.sources.size();
    out.sources.push_back(path);
    std::string line;
    for (int n = 1; std::getline(file, line); ++n) {
        const std::string mark = "#include \"";
        if (line.starts_with(mark) && line.ends_with('"')) {
            out.text += "#line 1 " + std::to_string(out.sources.size()) + "\n";
            append_shader(
                path.parent_path() / line.substr(mark.size(), line.size() - mark.size() - 1), out);
            out.text += "#line " + std::to_string(n + 1) + " " + std::to_string(number) + "\n";
        } else {
            out.text += line + "\n";
        }
    }
}

struct ShaderHandle {  // deleted again in every case; a linked program does not need it
    unsigned id;
    explicit ShaderHandle(unsigned kind) : id(glCreateShader(kind)) {}
    ~ShaderHandle() { glDeleteShader(id); }
    ShaderHandle(const ShaderHandle&) = delete;
    ShaderHandle& operator=(const ShaderHandle&) = delete;
};

void compile(const ShaderHandle& shader, const std::filesystem::path& path) {
    const ShaderText text = read_shader(path);
    const char* source = text.text.c_str();
    glShaderSource(shader.id, 1, &source, nullptr);
    glCompileShader(shader.id);
    int good = 0;
    glGetShaderiv(shader.id, GL_COMPILE_STATUS, &good);
    if (good != 0) return;
    std::string log(4096, '\0');
    int length = 0;
    glGetShaderInfoLog(shader.id, int(log.size()), &length, log.data());
    log.resize(size_t(length));
    fail("a shader does not compile:\n{}", name_shader_lines(log, text));
}

}  // namespace

ShaderText read_shader(const std::filesystem::path& path) {
    ShaderText out;
    append_shader(path, out);
    return out;
}

std::string name_shader_lines(const std::string& log, const ShaderText& shader) {
    static const std::regex place(R"(^\s*(?:ERROR:\s*)?(\d+)(?::(\d+)(?:\(\d+\))?|\((\d+)\))\s*:)");
    std::istringstream lines(log);
    std::string out, line;
    while (std::getline(lines, line)) {
        std::smatch found;
        if (std::regex_search(line, found, place)) {
            const size_t number = std::stoul(found[1]);
            const std::string row = found[2].matched ? found[2].str() : found[3].str();
            if (number < shader.sources.size())
                line = shader.sources[number].string() + ":" + row + ":" + found.suffix().str();
        }
        out += line + "\n";
    }
    return out;
}

Program::Program(const std::filesystem::path& vertex, const std::filesystem::path& fragment) {
    const ShaderHandle first(GL_VERTEX_SHADER), second(GL_FRAGMENT_SHADER);
    compile(first, vertex);
    compile(second, fragment);
    id_ = glCreateProgram();
    glAttachShader(id_, first.id);
    glAttachShader(id_, second.id);
    glLinkProgram(id_);
    int good = 0;
    glGetProgramiv(id_, GL_LINK_STATUS, &good);
    if (good == 0) {
        std::string log(2048, '\0');
        int length = 0;
        glGetProgramInfoLog(id_, int(log.size()), &length, log.data());
        log.resize(size_t(length));
        glDeleteProgram(std::exchange(id_, 0));
        fail("{} and {} do not link: {}", vertex.string(), fragment.string(), log);
    }
    glGenVertexArrays(1, &vertices_);
}

Program::~Program() {
    if (id_ != 0) glDeleteProgram(id_);
    if (vertices_ != 0) glDeleteVertexArrays(1, &vertices_);
}

Program::Program(Program&& other) noexcept
    : id_(std::exchange(other.id_, 0)), vertices_(std::exchange(other.vertices_, 0)) {}

Program& Program::operator=(Program&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(vertices_, other.vertices_);
    return *this;
}

int Program::place_of(const char* name) const {
    const int place = glGetUniformLocation(id_, name);
    AFT_ASSERT(place >= 0);
    return place;
}

void Program::use() const {
    glUseProgram(id_);
}
void Program::set(const char* name, int value) const {
    glUniform1i(place_of(name), value);
}
void Program::set(const char* name, float x, float y) const {
    glUniform2f(place_of(name), x, y);
}
void Program::set(const char* name, const std::array<float, 3>& rgb) const {
    glUniform3f(place_of(name), rgb[0], rgb[1], rgb[2]);
}

void Program::draw_triangle() const {
    glBindVertexArray(vertices_);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glBindVertexArray(0);
}

}  // namespace aft::viz::gl
