// A bare mixer in the window, and weights that hold NaN: what is said of them.
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/panels/shared/bias_map.h"
#include "core/check.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

class MixerAlone : public BareTest {
  protected:
    void open(const std::string& fixture, const Settings& set = {}) {
        initialize_model("cpu", 1);
        ImportRequest request;
        request.file = source_file("tests/model/imports/" + fixture).string();
        request.out =
            (scratch_ / fmt::format("layer-{}-{}.safetensors", fixture, set.size())).string();
        request.set = set;
        (void)import_job(request);
        make();
        stage_->frame().open(request.out);
        run("frames 2\nwait Ready\nframes 3\n");
    }
    // The shipped model with its first so many tensors of position biases broken.
    std::string broken_mirror(int tensors) {
        std::ifstream in(source_file("assets/demo/mirror.safetensors"), std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        uint64_t length = 0;
        for (size_t i = 8; i-- > 0;) length = length * 256 + static_cast<uint8_t>(bytes[i]);
        const auto header = nlohmann::json::parse(bytes.substr(8, length));
        for (const auto& [name, entry] : header.items()) {
            if (tensors == 0 || name.find(".mixer.v.weight") == std::string::npos) continue;
            if (name.starts_with("optim.")) continue;
            const auto at = 8 + length + entry["data_offsets"][0].get<uint64_t>();
            for (size_t i = 0; i < 4; ++i) bytes[at + i] = '\xFF';  // NaN in every format
            --tensors;
        }
        const auto file = scratch_ / "broken.safetensors";
        std::ofstream(file, std::ios::binary) << bytes;
        return file.string();
    }
    // The layer with w = -inf in so many places of w from one on; T = 10.
    std::string hidden_layer(size_t first, size_t count) {
        open("rish16.pt");
        const auto file = scratch_ / "layer-rish16.pt-0.safetensors";
        std::ifstream in(file, std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        uint64_t length = 0;
        for (size_t i = 8; i-- > 0;) length = length * 256 + static_cast<uint8_t>(bytes[i]);
        const auto header = nlohmann::json::parse(bytes.substr(8, length));
        const auto at =
            8 + length + header["blocks.0.mixer.w"]["data_offsets"][0].get<uint64_t>() + 4 * first;
        for (size_t i = 0; i < count; ++i) bytes.replace(at + 4 * i, 4, "\0\0\x80\xFF", 4);
        const auto masked = scratch_ / fmt::format("masked-{}.safetensors", count);
        std::ofstream(masked, std::ios::binary) << bytes;
        return masked.string();
    }
    std::string toast(const std::string& title) {
        for (const Toast& shown : ui().toasts.shown())
            if (shown.title == title) return shown.detail;
        return "";
    }
};

TEST_F(MixerAlone, ACausalOneHidesWhatATargetCannotSee) {
    open("rish16.pt", {{"model.causal", "true"}});
    const BiasForm form(ui().status);
    EXPECT_EQ(form.layout, BiasLayout::matrix);
    EXPECT_TRUE(form.is_hidden(0, 1, {}));
    EXPECT_FALSE(form.is_hidden(1, 0, {}));
    open("rish16.pt");
    EXPECT_FALSE(BiasForm(ui().status).is_hidden(0, 1, {})) << "not causal: everything is visible";
}

TEST_F(MixerAlone, ItsBiasesAreShown) {
    for (const char* const fixture : {"labml-layer.pt", "rish16.pt"}) {
        SCOPED_TRACE(fixture);
        open(fixture);
        run("view.workspace_biases\nframes 10\n");
        EXPECT_FALSE(is_there("atlas/main/empty_state"));
        EXPECT_EQ(value_of("atlas/main/banner"), "");
        ProbeRequest request;
        request.probe = "bias";
        const BiasForm form(ui().status);
        if (form.layout == BiasLayout::band) request.options["view"] = "band";
        const FieldSetPtr fields = ask(request);
        ASSERT_NE(fields, nullptr);
        EXPECT_FALSE(map_of_fields({*fields}, form, 0, {}).shown.empty())
            << "the form is that of the values";
    }
}

TEST_F(MixerAlone, WhatNeedsAnInputOrATaskSaysSo) {
    open("rish16.pt");
    for (const auto& [workspace, pane] :
         {std::pair{"attention", "attention"}, std::pair{"attention", "keys"},
          std::pair{"attention", "relative"}, std::pair{"complete", "samples"}}) {
        SCOPED_TRACE(pane);
        run(std::string("view.workspace_") + workspace + "\nframes 3\n");
        if (std::string(pane) != "samples")
            run(std::string("click ") + pane + "/main/tab\nframes 3\n");
        const std::string words = value_of(std::string(pane) + "/main/empty_state");
        EXPECT_NE(words.find("a mixer alone"), std::string::npos) << words;
        EXPECT_EQ(value_of(std::string(pane) + "/main/banner"), "");
    }
    EXPECT_NE(ui().actions.why_not(ui(), "run.start").find("mixer alone"), std::string::npos)
        << ui().actions.why_not(ui(), "run.start");
    EXPECT_NE(ui().actions.why_not(ui(), "complete.start"), "");
    EXPECT_FALSE(ui().status.can_train);
}

TEST_F(MixerAlone, ANewRunDoesNotOfferIt) {
    initialize_model("cpu", 1);
    make();
    run("file.new_run\nframes 3\nset home/settings/group model\nframes 3\n");
    std::string error;
    try {
        run("set home/settings/model.task layer\nframes 2\n");
    } catch (const Error& refused) {
        error = refused.what();
    }
    EXPECT_NE(error.find("classify"), std::string::npos) << error;
    run("set home/settings/model.task classify\nframes 2\n");
    EXPECT_EQ(value_of("home/settings/model.task"), "classify");
}

TEST_F(MixerAlone, MasksAreHiddenCellsAndNoFault) {
    const std::string one = hidden_layer(21, 3), row = hidden_layer(40, 10);
    make();
    stage_->frame().open(one);
    run("frames 2\nwait Ready\nframes 3\n");
    EXPECT_TRUE(ui().status.not_finite.empty());
    EXPECT_EQ(toast("NaN or infinity in the weights"), "");
    ProbeRequest request;
    request.probe = "bias";
    const FieldSetPtr fields = ask(request);
    ASSERT_NE(fields, nullptr);
    const BiasMap map = map_of_fields({*fields}, BiasForm(ui().status), 0, {});
    ASSERT_EQ(map.hidden.size(), 100u);
    for (size_t i = 0; i < 100; ++i) EXPECT_EQ(map.hidden[i], i >= 21 && i < 24 ? 1 : 0) << i;
    make();
    stage_->frame().open(row);
    run("frames 2\nwait Ready\nframes 3\n");
    EXPECT_NE(
        toast("NaN or infinity in the weights").find("blocks.0.mixer.w (target 4 sees no source)"),
        std::string::npos);
}

TEST_F(MixerAlone, NanInWeightsIsSaidWhenAModelIsOpened) {
    initialize_model("cpu", 1);
    const char* const title = "NaN or infinity in the weights";
    make();
    stage_->frame().open(broken_mirror(2));
    run("frames 2\nwait Ready\nframes 3\n");
    ASSERT_EQ(ui().status.not_finite.size(), 2u);
    const std::string words = toast(title);
    EXPECT_NE(words.find("2 tensors, the first is " + ui().status.not_finite.front()),
              std::string::npos)
        << words;
    EXPECT_NE(words.find(".mixer.v.weight"), std::string::npos) << words;
    make();
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    run("frames 2\nwait Ready\nframes 3\n");
    EXPECT_TRUE(ui().status.not_finite.empty());
    EXPECT_EQ(toast(title), "");
}

}  // namespace
}  // namespace aft::app
