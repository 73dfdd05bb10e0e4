#include "app/frame/retiring.h"

#include <utility>

#include "core/system/heap.h"

namespace aft::app {

std::optional<UnsavedSteps> save_before_end(const OpenSession& open) {
    return save_before_end(*open.session, *open.published);
}

RetiringSession::RetiringSession(OpenSession open, std::shared_ptr<UnsavedStepsBox> unsaved,
                                 std::function<void()> wake)
    : thread_([this, old = std::make_shared<OpenSession>(std::move(open)), box = std::move(unsaved),
               wake = std::move(wake)] {
          const std::optional<UnsavedSteps> lost = save_before_end(*old);
          old->session.reset();
          if (lost) box->put(*lost);
          if (lost) wake();
          trim_heap();
          has_ended_ = true;
      }) {}

}  // namespace aft::app
