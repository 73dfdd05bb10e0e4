#include "model/data/classes.h"

#include <algorithm>

#include "core/check.h"
#include "core/outside.h"

namespace aft {
namespace {

using Names = std::vector<std::string>;

// Another source with its labels replaced: label l becomes new_labels[l].
class Relabelled : public DataSource {
  public:
    Relabelled(std::unique_ptr<DataSource> source, std::vector<int64_t> new_labels,
               const Names& names)
        : source_(std::move(source)), new_labels_(std::move(new_labels)), info_(source_->info()) {
        info_.class_names = names;
        info_.classes = static_cast<int64_t>(names.size());
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }
    [[nodiscard]] int64_t size(Split split) const override { return source_->size(split); }
    [[nodiscard]] Example example(Split split, int64_t index) const override {
        Example example = source_->example(split, index);
        relabel(example.label);
        return example;
    }
    [[nodiscard]] std::optional<Example> readable_example(Split split,
                                                          int64_t index) const override {
        auto example = source_->readable_example(split, index);
        if (example) relabel(example->label);
        return example;
    }
    [[nodiscard]] std::optional<WholePicture> picture(Split split, int64_t index) const override {
        auto picture = source_->picture(split, index);
        if (picture) relabel(picture->label);
        return picture;
    }
    void check_readable() const override { source_->check_readable(); }

  private:
    void relabel(int64_t& label) const {
        if (label >= 0) label = new_labels_.at(static_cast<size_t>(label));
    }
    std::unique_ptr<DataSource> source_;
    std::vector<int64_t> new_labels_;
    DataInfo info_;
};

void fail_first_difference(const Names& of_data, const Names& of_model) {
    const size_t both = std::min(of_data.size(), of_model.size());
    size_t at = 0;
    while (at < both && of_data[at] == of_model[at]) ++at;
    const auto name = [&](const Names& names) {
        return at < names.size() ? "'" + shown(names[at]) + "'" : std::string("missing");
    };
    fail_usage(
        "the data's {} classes are not the model's {}: class {} is {} in the data, {} in the "
        "model; --classes by-name goes by the names",
        of_data.size(), of_model.size(), at, name(of_data), name(of_model));
}

}  // namespace

std::unique_ptr<DataSource> with_known_classes(std::unique_ptr<DataSource> source,
                                               const KnownData& known) {
    const Names &of_data = source->info().class_names, &of_model = known.class_names;
    if (of_data.empty() || of_model.empty() || of_data == of_model) return source;
    if (!known.classes_by_name) fail_first_difference(of_data, of_model);
    std::vector<int64_t> labels;
    for (const std::string& name : of_data) {
        const auto found = std::find(of_model.begin(), of_model.end(), name);
        if (found == of_model.end())
            fail_usage("the data's class '{}' is none of the model's {} classes ('{}' to '{}')",
                       shown(name), of_model.size(), shown(of_model.front()),
                       shown(of_model.back()));
        labels.push_back(found - of_model.begin());
    }
    return std::make_unique<Relabelled>(std::move(source), std::move(labels), of_model);
}

}  // namespace aft
