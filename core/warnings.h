// What a user should know although nothing failed: each text is reported once per process. Any
// thread.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace aft {

// To stderr as "afterimage: warning: ...", or to the sink if there is one.
void warn_once(const std::string& text);
// The same where the text holds numbers of the case: one warning per subject, the first. text_of is
// called for that one alone and must not warn.
void warn_once_about(std::string_view subject, const std::function<std::string()>& text_of);

using WarningSink = std::function<void(const std::string&)>;
// Called on the warning thread, one at a time; none takes it back to stderr. Returns the one
// before.
WarningSink set_warning_sink(WarningSink sink);

}  // namespace aft
