// DataBrowser: looks through the data that a new run would read, before there is a run: parts,
// sizes, classes, and the grid of their examples. A thread of its own opens and reads them. Window
// thread; every method returns at once, but the destructor waits for what is being read.
#pragma once
#include <memory>
#include <string>

#include "app/panels/shared/example_grid.h"
#include "app/state/background.h"
#include "app/state/ui.h"
#include "model/jobs/browse.h"

namespace aft::app {

class DataBrowser {
  public:
    void open(const Config& config);  // of a new run: its data, seed and length of texts
    // The popup, while it is open; where it was opened. Once it is closed the data are closed, too.
    void draw(DrawContext& ui);
    void close();
    [[nodiscard]] bool holds_data() const { return pages_.latest() != nullptr; }

  private:
    struct DataPageWanted {
        std::string part{};  // "" = the usual one
        int64_t first = 0;
        bool operator==(const DataPageWanted&) const = default;
    };
    struct DataPageAnswer {
        DataPageWanted of{};
        uint64_t opening = 0;  // which call of open()
        std::string problem{};
        std::string unread{};  // the first example of the page that cannot be read, and why
        std::shared_ptr<const DataSource> data{};  // kept open for the next page
        DataFacts facts{};
        ExampleItems items{};  // of the page; null = not read yet
    };
    static void read(DataPageAnswer answer, const Config& config,
                     const Background<DataPageAnswer>::Publish& publish,
                     const std::stop_token& stop);
    void ask();
    void draw_answer(DrawContext& ui, const DataPageAnswer& answer);
    void draw_part(DrawContext& ui, const DataFacts& facts, const std::string& part);
    Config config_;
    DataPageWanted wanted_, asked_;
    uint64_t opening_ = 0, asked_opening_ = 0;
    int64_t chosen_ = -1;
    ExampleGrid grid_;
    Background<DataPageAnswer> pages_;
};

// "pictures of 32 x 32 x 3, 256 levels, 10 classes: airplane, ..."; "a text in windows".
[[nodiscard]] std::string data_words(const DataFacts& facts);

}  // namespace aft::app
