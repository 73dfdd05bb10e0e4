// Field: a plain named array of floats with axes, the only form in which numbers leave the model.
// Made by probes (worker thread) and jobs; read by viz and panels (window thread). Immutable once
// shared.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace aft {

struct Field {
    std::string name;            // "w", "exp_k", "attention", ...: unique within its FieldSet
    std::vector<int64_t> shape;  // row-major (C order); product equals values.size()
    // One word per dimension: "layer", "head", "target", "source", "y", "x", ...
    std::vector<std::string> axes;
    std::string unit;   // "", "nats", "bits", "share"
    int64_t step = -1;  // training step of the weights it was computed from, -1 = unknown
    std::vector<float> values;
    // caption parts: "quantity", "gauge", "normalisation", "model"
    std::map<std::string, std::string> notes;

    [[nodiscard]] int64_t size() const;  // product of shape
    [[nodiscard]] int64_t extent(size_t axis) const {
        return axis < shape.size() ? shape[axis] : 1;
    }
};

struct FieldSet {
    std::vector<Field> fields;
    [[nodiscard]] const Field* find(const std::string& name) const;  // nullptr when absent
};

using FieldSetPtr = std::shared_ptr<const FieldSet>;

// The mean of fields of one shape, added one after the other; names and notes are the first's.
class FieldMean {
  public:
    void add(Field one);
    [[nodiscard]] Field mean() &&;

  private:
    Field sum_;
    int64_t count_ = 0;
};

}  // namespace aft
