// A fragment replaces its include, with its arguments filled in. An include without a fragment is refused by its
// line.
#include "generator/fragments.h"

#include <gtest/gtest.h>

namespace quadrille::fragments_test {

std::string put_in(const std::string& text, const std::string& lemmas = "") {
  const Result<std::string> result = put_in_fragments({{"some.lemmas", lemmas}, {"a.proof", text}});
  return result.ok() ? *result : result.error().message;
}

TEST(Fragments, TakeThePlaceOfTheirIncludesWithTheIndentThere) {
  EXPECT_EQ(put_in("match send 1\n  with receive 1\n"), "match send 1\n  with receive 1\n");
  EXPECT_EQ(
      put_in("fragment both\n  use one()\n  use two()\nmatch send 1\n  include both\norder\n"),
      "match send 1\n  use one()\n  use two()\norder\n");
  EXPECT_EQ(put_in("fragment whole(t)\n  lemma whole({t})\n    show {t} = {t}\ninclude whole(x)\n"),
            "lemma whole(x)\n  show x = x\n");
}

TEST(Fragments, TakeExpressionsWithCommasAndBrackets) {
  EXPECT_EQ(
      put_in("fragment f(a, b)\n  use l({b}, {a}, ab)\n  include f(at(v, w), st[min(a, b)] + 1)\n"
             "order\n"),
      "a.proof:3: no fragment 'f' stands above");
  EXPECT_EQ(put_in("fragment f(a, b)\n  use l({b}, {a}, ab)\norder\n"
                   "  include f(at(v, w), st[min(a, b)] + 1)\n"),
            "order\n  use l(st[min(a, b)] + 1, at(v, w), ab)\n");
}

TEST(Fragments, IncludeThoseAboveThemWhoseParametersHaveTheSameNames) {
  EXPECT_EQ(put_in("fragment pair(x, y)\n  use pair({x}, {y})\n"
                   "fragment turned(x, y)\n  include pair({y}, {x} + 1)\n"
                   "order\n  include turned(a, b)\n"),
            "order\n  use pair(b, a + 1)\n");
}

TEST(Fragments, LinesOfTwoStatementsStandOnce) {
  EXPECT_EQ(put_in("fragment f\n  with send 1 where x = x, y = y\n"
                   "used receive 1, copy 2\n  include f\n  use l(a, b)\n"),
            "used receive 1\n  with send 1 where x = x, y = y\n  use l(a, b)\n"
            "used copy 2\n  with send 1 where x = x, y = y\n  use l(a, b)\n");
  EXPECT_EQ(put_in("lemma l(a, b)\n  show a = b\n"), "lemma l(a, b)\n  show a = b\n");
  EXPECT_EQ(put_in("used receive 1, copy 2\n  include f\n"),
            "a.proof:2: no fragment 'f' stands above");
}

TEST(Fragments, BothEndsOfAMessageStandOnceAndKeysNeedNoLines) {
  EXPECT_EQ(put_in("fragment f(a, b)\n  both {a} {b} where x = x, y = y\n    use l(x, y)\ninclude "
                   "f(2, 3)\n"),
            "match send 2\n  use l(x, y)\n  with receive 3 where x = x, y = y\n"
            "match receive 3\n  use l(x, y)\n  with send 2 where x = x, y = y\n");
  EXPECT_EQ(put_in("both 12\n"),
            "match send 12\n  with receive 12\nmatch receive 12\n  with send 12\n");
  EXPECT_EQ(put_in("both 1\n  include f\n"), "a.proof:2: no fragment 'f' stands above");
  EXPECT_EQ(put_in("keys x\n  use a()\nkeys y\n  from 3*y\n"),
            "keys x\n  from x\n  to x + 1\n  use a()\nkeys y\n  from 3*y\n  to 3*y + 1\n");
  EXPECT_EQ(put_in("keys x\n  include f\n"), "a.proof:2: no fragment 'f' stands above");
  EXPECT_EQ(put_in("keys x\norder\n  use a()\nkeys y\n  from 0\n  to 2\n"),
            "keys x\n  from x\n  to x + 1\norder\n  use a()\nkeys y\n  from 0\n  to 2\n");
}

TEST(Fragments, MayOverlapAsAHintIsPutInOnce) {
  const std::string both =
      "fragment one\n  use a(x)\n  use b(x)\nfragment two\n  use b(x)\n  use c(x)\n";
  EXPECT_EQ(put_in(both + "order\n  include one\n  include two\n"),
            "order\n  use a(x)\n  use b(x)\n  use c(x)\n");
  EXPECT_EQ(put_in(both + "fragment all\n  include one\n  include two\norder\n  include all\n"),
            "order\n  use a(x)\n  use b(x)\n  use c(x)\n");
  // Each statement and each witness has its own hints. Hints above the witnesses serve all of them.
  EXPECT_EQ(put_in(both + "order\n  include one\nport\n  include one\n"),
            "order\n  use a(x)\n  use b(x)\nport\n  use a(x)\n  use b(x)\n");
  EXPECT_EQ(
      put_in(both +
             "cover\n  use a(x)\n  with copy 1\n  include one\n  with copy 2\n  include one\n"),
      "cover\n  use a(x)\n  with copy 1\n  use b(x)\n  with copy 2\n  use b(x)\n");
  // Lines that an author writes twice stay. The verifier refuses them.
  EXPECT_EQ(put_in("order\n  use a(x)\n  use a(x)\n"), "order\n  use a(x)\n  use a(x)\n");
}

TEST(Fragments, CommentsStayBehind) {
  EXPECT_EQ(put_in("-- why, and how\norder\n  use a()\n"), "order\n  use a()\n");
}

TEST(Fragments, OfTheFilesBeforeAreKnown) {
  EXPECT_EQ(
      put_in("include quotient\n", "fragment quotient\n  lemma quotient(a, b)\n    show a = b\n"),
      "lemma quotient(a, b)\n  show a = b\n");
}

TEST(Fragments, ThatCannotBePutInAreRefused) {
  EXPECT_EQ(put_in("order\n  include hits(x)\n"), "a.proof:2: no fragment 'hits' stands above");
  EXPECT_EQ(put_in("fragment hits(x, y)\n  use a({x})\norder\n  include hits(x)\n"),
            "a.proof:4: fragment 'hits' takes 2 arguments, not 1");
  EXPECT_EQ(put_in("fragment hits\n  use a(x)\norder\n  include hits(x)\n"),
            "a.proof:4: fragment 'hits' takes 0 arguments, not 1");
  EXPECT_EQ(put_in("fragment again\n  include again\n"),
            "a.proof:2: no fragment 'again' stands above");
  EXPECT_EQ(put_in("fragment hits(x)\n  use a({y})\n"),
            "a.proof:1: fragment 'hits': it has no parameter 'y'");
  EXPECT_EQ(put_in("fragment hits(x)\n  use a({x\n"),
            "a.proof:1: fragment 'hits': it has no parameter 'x'");
  EXPECT_EQ(put_in("fragment hits\n  use a\nfragment hits\n  use b\n"),
            "a.proof:3: there is a fragment 'hits' already");
  EXPECT_EQ(put_in("fragment hits\norder\n"), "a.proof:1: fragment 'hits' has no lines");
  EXPECT_EQ(put_in("order\n", "fragment hits\n"), "some.lemmas:1: fragment 'hits' has no lines");
}

}  // namespace quadrille::fragments_test
