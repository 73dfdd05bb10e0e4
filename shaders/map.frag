#version 330 core
// A map: one fragment per value. Values and colours lie at the same place of their textures.
#include "colormap.glsl"

uniform sampler2D values;  // R32F
uniform vec3 nan_color;
out vec4 color;

const float kHidden = -3.3e38;  // below: not visible, the hatch under the map shows

void main() {
    float value = texelFetch(values, ivec2(gl_FragCoord.xy), 0).r;
    if (!is_finite(value)) {
        color = vec4(nan_color, 1.0);
    } else if (value < kHidden) {
        color = vec4(0.0);
    } else {
        color = vec4(table_color(scale_position(value)), 1.0);
    }
}
