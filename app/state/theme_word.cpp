// Themes by the words of the settings: nothing of Dear ImGui is linked for it.
#include "app/state/theme.h"

namespace aft::app {

const char* theme_word(ThemeName name) {
    switch (name) {
        case ThemeName::dark:
            return "dark";
        case ThemeName::light:
            return "light";
        case ThemeName::high_contrast:
            return "high-contrast";
    }
    return "dark";
}

}  // namespace aft::app
