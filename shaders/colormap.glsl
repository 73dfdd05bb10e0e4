// Value -> position in the table -> colour. The same arithmetic as core/images/colormap.cpp; a test
// compares the two.
uniform sampler2D table;  // 256 x 1, linear
uniform vec2 range;       // low, high
uniform vec2 bend;        // signed log: c, log(1 + M / c); log: the lowest value that is drawn, -
uniform int scale;        // 0 linear, 1 root, 2 log, 3 signed linear, 4 signed log, 5 two-sided

bool is_finite(float v) {
    return (floatBitsToUint(v) & 0x7F800000u) != 0x7F800000u;
}

float unsigned_position(float v) {
    if (!(range.y > range.x)) return 0.0;
    if (scale == 2) return bend.x <= 0.0 || v <= bend.x ? 0.0 : log(v / bend.x) / log(range.y / bend.x);
    float x = (v - range.x) / (range.y - range.x);
    return scale == 1 ? sqrt(x) : x;
}

float signed_position(float v) {
    float m = max(abs(range.x), abs(range.y));
    if (!(m > 0.0)) return 0.0;
    if (scale == 4) return sign(v) * log(1.0 + abs(v) / bend.x) / bend.y;
    if (scale == 3) return v / m;
    float end = v < 0.0 ? -range.x : range.y;
    return end > 0.0 ? v / end : 0.0;
}

float scale_position(float value) {
    float v = clamp(value, min(range.x, range.y), range.y);
    float position = scale >= 3 ? 0.5 + 0.5 * signed_position(v) : unsigned_position(v);
    return clamp(position, 0.0, 1.0);
}

vec3 table_color(float position) {
    return texture(table, vec2((position * 255.0 + 0.5) / 256.0, 0.5)).rgb;
}
