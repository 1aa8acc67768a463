// The texts of files of this folder. view/embed.sh makes the source file.
#ifndef QUADRILLE_VIEW_ASSETS_H_
#define QUADRILLE_VIEW_ASSETS_H_

namespace quadrille {

extern const char* const kPaletteCss;
extern const char* const kPageHtml;
extern const char* const kPageCss;
extern const char* const kPageJs;

}  // namespace quadrille

#endif  // QUADRILLE_VIEW_ASSETS_H_
