// Run: the one model of a session as the trainer thread has it: the weights, the run folder, the
// state, which changes by the table of run_states.h alone. Trainer thread. run.cpp obeys commands
// and trains, run_open.cpp opens and prepares training, run_settings.cpp changes settings,
// run_rewind.cpp goes back, run_logs.cpp reads and writes events, run_files.cpp handles replaced
// files, follower.cpp reads a run that another process trains.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/session/channels.h"
#include "model/session/publisher.h"
#include "model/session/run_states.h"
#include "model/session/run_view.h"
#include "model/session/watched_files.h"
#include "model/train/loop.h"
#include "model/train/run_folder.h"
#include "model/train/trainer.h"

namespace aft::session {

class Run {
  public:
    Run(SessionChannels& channels, OpenRequest request);

    // Each throws what is in the way; set_error() then says what becomes of the run.
    void open();
    void obey(const Command& command);
    // While running: one training step, or what the run of another process has grown by.
    void advance();
    // At next_deadline(): looks at replaced files, saves in time. True: there is something to show.
    bool meet_deadline();
    [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;

    void set_error(const std::string& words);
    void set_message(const std::string& words) { view_.status.message = words; }
    void publish(bool at_once = false);  // status, and curves where they are due
    void end();                          // of the session: what is unsaved is saved
    [[nodiscard]] const Status& status() const { return view_.status; }

  private:
    // Exactly one of: a trainer (new or started), or what a file held until training starts.
    struct ModelInHand {
        std::unique_ptr<Trainer> trainer;
        std::shared_ptr<const Checkpoint> opened;
        std::string data_source;  // chosen here in place of what the file says; empty = as it says
    };
    struct RunOnDisk {
        std::string path;                   // to read from or write to; may not exist yet
        bool is_old = false;                // it exists: to be resumed
        std::unique_ptr<RunFolder> folder;  // locked by us; made when training starts
        std::unique_ptr<TrainingLoop> loop;
        Clock::time_point looked_at{};  // whether it is there: after an error, or at rest
        bool was_gone = false;          // of a run that rests here and was never trained here
        // A setting that can make training diverge was changed before the folder was ours.
        bool has_risky_change = false;
        std::string unsaved_steps;  // text on the steps that the last resume has dropped
    };

    [[nodiscard]] const Config& config() const { return view_.status.config; }
    void apply(RunEvent event);

    // run.cpp
    void step();
    void finish_step(const StepReport& report, Clock::time_point start);
    void start();
    void begin();
    void halt(RunEvent event);
    void save(SaveKind kind);
    void save_copy(const Command& command);
    [[nodiscard]] std::string why_no_weights(bool is_copy) const;  // "" = there are
    void keep(int64_t step);
    void note_saved(int64_t step);
    void publish_weights();
    void check_saves();
    [[nodiscard]] bool has_unsaved_steps() const;
    [[nodiscard]] bool is_gone() const;  // its folder is no longer there, or was emptied
    bool look_for_folder();              // after an error; true if it has gone or come back

    // run_open.cpp
    void open_new();
    void open_file(const std::string& path);
    void open_run();
    [[nodiscard]] std::string open_newest();
    void open_logs_alone(bool has_settings);
    void show_without_weights(bool has_settings);
    [[nodiscard]] bool publish_stored_biases();
    [[nodiscard]] NamedTensors weights_beside_biases() const;
    void make_trainer();
    void prepare_training();  // trainer and run folder, made at the first start
    // Words for logged steps beyond the opened weights; "" where there are none.
    [[nodiscard]] std::string steps_without_weights() const;

    // run_settings.cpp
    void change(const std::string& key, const std::string& value);
    void change_target(const std::string& value);
    void change_new_run(const std::string& key, const std::string& value);
    [[nodiscard]] bool save_before(const std::string& key, const std::string& value);
    void move_data(const std::string& source);

    // run_rewind.cpp
    void rewind(int64_t step);
    [[nodiscard]] Checkpoint saved_checkpoint(int64_t step) const;
    void continue_at(std::unique_ptr<Trainer> trainer, const Checkpoint& checkpoint);
    void record_rewind(int64_t from, const std::string& branch);
    void reopen(Checkpoint checkpoint);

    // run_logs.cpp
    bool read_metrics();  // what metrics.jsonl has grown by; true if there is something
    void read_logs();     // curves and events, from the start
    void read_rows_again();
    void log_event(const std::string& kind, const std::string& text);
    void log_failed_step(const std::string& words);  // the step after the last
    void log_target();  // the target step, as an event of the run folder
    void publish_stored_steps();

    // run_files.cpp
    bool check_files();
    bool follow_again();
    [[nodiscard]] bool only_rests() const;
    bool look_at_rest();
    void read_again();
    [[nodiscard]] std::string reload();

    // follower.cpp
    void follow();  // the run is ours when that process has ended
    bool follow_rewind();
    bool follow_metrics();
    bool follow_weights();
    void show_opened(int64_t target);
    void take_over();

    SessionChannels& channels_;
    OpenRequest request_;
    at::Device device_ = at::kCPU;
    RunView view_;
    Publisher publisher_;
    WatchedFiles files_;
    ModelInHand model_;
    RunOnDisk run_;
    int64_t pause_at_ = -1;  // after which step; -1 = none asked for
    // Values of each live setting that was changed here: the first, then those not undone.
    std::map<std::string, std::vector<std::string>> set_values_;
};

}  // namespace aft::session
