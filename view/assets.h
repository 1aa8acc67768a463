// The texts of files of this folder. view/embed.sh makes the source file.
#pragma once

namespace quadrille {

extern const char* const kPaletteCss;
extern const char* const kPageHtml;
extern const char* const kPageCss;
extern const char* const kPageJs;

}  // namespace quadrille
