#include "app/frame/retiring.h"

#include <utility>

#include "core/system/heap.h"

namespace aft::app {

std::optional<UnsavedSteps> save_before_end(const OpenSession& open) {
    return save_before_end(*open.session, *open.published);
}

RetiringSession::RetiringSession(OpenSession open, std::function<void()> wake)
    : thread_([this, old = std::make_shared<OpenSession>(std::move(open)), wake = std::move(wake)] {
          const SessionEnd end{save_before_end(*old)};
          old->session.reset();
          trim_heap();
          end_.publish(std::make_shared<const SessionEnd>(end));
          if (end.unsaved) wake();
      }) {}

}  // namespace aft::app
