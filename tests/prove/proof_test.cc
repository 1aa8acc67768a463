// Every bad proof file gets an error of one sentence, which begins with the file and, if there is one, the line.
#include "verifier/prove/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/reverse.h"
#include "schedule/sequence.h"
#include "schedule/text.h"
#include "tests/prove/proofs.h"
#include "verifier/prove/prover.h"

namespace quadrille::verifier::proof_test {

// Returns the error message, or "" if the proof is accepted.
std::string refusal(const std::string& text) {
  const Result<Proof> proof = parse_proof(text, "bad.proof");
  if (!proof.ok()) return proof.error().message;
  const Result<ProofPlan> plan = plan_proof(*proof);
  return plan.ok() ? "" : plan.error().message;
}

constexpr int kHeadingLines = 4;  // of proof_text()

// Returns the proof file of kFactor, with `from` replaced in its statements.
std::string changed(const std::string& from, const std::string& to) {
  return proof_text(kFactor, quadrille::changed(kFactorProof, from, to));
}

std::string preceded(const std::string& statements) {
  return proof_text(kFactor, statements + kFactorProof);
}

struct BadProof {
  std::string text;
  int line;  // in the message; 0: the message names only the file
  std::string sentence;
};

void all_refused(const std::vector<BadProof>& proofs) {
  for (const BadProof& bad : proofs) {
    const std::string sentence = refusal(bad.text);
    const std::string place =
        bad.line ? "bad.proof:" + std::to_string(bad.line) + ":" : std::string("bad.proof: ");
    EXPECT_THAT(sentence, testing::StartsWith(place)) << bad.sentence;
    EXPECT_THAT(sentence, testing::HasSubstr(bad.sentence));
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  }
}

TEST(ProofFile, ThatIsGoodIsAccepted) {
  EXPECT_EQ(refusal(proof_text(kFactor, kFactorProof)), "");
  EXPECT_EQ(refusal(preceded("-- a comment\n\n")), "");
}

TEST(ProofFile, WithABadHeadingIsRefused) {
  const std::string good = proof_text(kFactor, kFactorProof);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  all_refused({
      {"", 0, ""},
      {"proof 2\n", 1, "not a proof that this verifier reads"},
      {"lemma a(x)\n", 1, "not a proof that this verifier reads"},
      {with("code ", "cod "), 2, "'cod' is no line of a proof's heading"},
      {with("code 00", "code 0"), 2, "two hexadecimal digits"},
      {with("code 00", "code 000"), 2, "two hexadecimal digits"},
      {with("code 00", "code zz"), 2, "two hexadecimal digits"},
      {with("code 00", "code -1"), 2, "two hexadecimal digits"},
      {with("code 00 ", "code "), 0, ""},
      {with("code 00", "code ff"), 0, ""},
      {with("names ", "names 01 "), 0, "the names do not fit the code"},
      {good.substr(0, good.find("names")), 0, "the names do not fit the code"},
      {good.substr(0, good.find("code")), 0, ""},
  });
}

const std::string chain =
    "algorithm chain for broadcast\nlet v = wrap(rank - root, ranks)\nif rank = root\n"
    "  copy send[0] to recv[0]\nif 0 < v\n  step v\n    receive recv[0] from wrap(rank - 1, "
    "ranks)\n"
    "if v + 1 < ranks\n  step v + 1\n    send recv[0] to wrap(rank + 1, ranks)\n";
const std::string other = quadrille::changed(chain, "step v + 1", "step v + 2");
const char* const kChainProof =
    "match send 1\n  with receive 1\nmatch receive 1\n  with send 1\n"
    "held send 1\n  with copy 1 if rank = root\n  with receive 1\ncover\n  with receive 1\n";

Program reversal_of(const std::string& text) {
  return reverse(parse_program(text, "text").value()).value();
}

// Returns the proof file of a reversal.
std::string with(const std::string& program, std::string original) {
  original = quadrille::changed(proof_text(original, kChainProof), "proof 1\ncode", "original");
  return quadrille::changed(proof_text(program, ""), "\n\n", "\n") +
         quadrille::changed(original, "\nnames", "\noriginal-names");
}

// The proof of a reversal brings the code of the reversal, and then that of the original, which the statements are about.
TEST(ProofFile, OfAReversalIsRefusedUnlessTheReversalIsThatOfItsOriginal) {
  const std::string sum = print(reversal_of(chain));
  EXPECT_EQ(refusal(with(sum, chain)), "");
  all_refused({
      {with(other, chain), 6, "the code above is not the reversal of the original"},
      {with(sum, other), 6, "the code above is not the reversal of the original"},
      {with(chain, sum), 6,
       "only a broadcast or an allgather on one group can be reversed, not a reduce"},
      {quadrille::changed(with(sum, chain), "original 0", "original x"), 4,
       "two hexadecimal digits"},
      {quadrille::changed(with(sum, chain), "original-names 0", "original-names ff 0"), 0,
       "the names do not fit"},
      {with(sum, chain) + "deadlock\n  with send 1\n", 16,
       "a deadlock of a program says nothing of its reversal, or of a sequence; leave the "
       "statement out"},
  });
}

// The proof of a sequence brings its code, and then the proof files of both programs.
TEST(ProofFile, OfASequenceIsRefusedUnlessItIsThatOfItsPrograms) {
  const std::string first = with(print(reversal_of(chain)), chain),
                    second = proof_text(chain, kChainProof);
  const auto both = [](const std::string& sum, const std::string& spread) {
    return proof_text(
        print(sequence(reversal_of(sum), parse_program(spread, "text").value()).value()), "");
  };
  const std::string good = both(chain, chain) + first + "\n" + second;
  EXPECT_EQ(refusal(good), "");
  const auto proof = parse_proof(good, "good.proof");
  const auto plan = plan_proof(*proof);
  for (const ObligationResult& result : Prover({}).prove(*proof, *plan).obligations)
    EXPECT_TRUE(result.proven) << result.name;
  all_refused({
      {both(other, chain) + first + "\n" + second, 4, "the code above is not the sequence"},
      {both(chain, other) + first + "\n" + second, 4, "the code above is not the sequence"},
      {both(chain, chain) + first, 5, "a proof of one program; give that of the second below it"},
      {both(chain, chain) + second + "\n" + first, 4, "only a reduce-scatter then an allgather"},
      {quadrille::changed(good, "proof 1\ncode", "proof 1\n\nproof 2\ncode"), 0, ""},
      {good + "keys k\n", 34, "the program has no 'k' to 'keys'"},
  });
}

TEST(ProofFile, WithABadStatementIsRefused) {
  const int first = kHeadingLines + 1;
  all_refused({
      {preceded("lemon a(x)\n  show x = x\n"), first, "'lemon' is not a statement"},
      {preceded("include quotient\n"), first, "only the generator knows fragments"},
      {preceded("  show 1 = 1\n"), first, "indented without a statement before it"},
      {preceded("lemma\n"), first, "expected a name"},
      {preceded("lemma a\n  show 1 = 1\n"), first, "expected '('"},
      {preceded("lemma a(x y)\n  show x = x\n"), first, "expected ','"},
      {preceded("lemma a(1)\n  show 1 = 1\n"), first, "expected a variable"},
      {preceded("lemma a(x, x)\n  show x = x\n"), first, "a second 'x'"},
      {preceded("define a(x, y, x)\n  as y\n"), first, "a second 'x'"},
      {preceded("lemma a(x) b\n  show x = x\n"), first, "'b' is left over"},
      {preceded("lemma a(x) $\n  show x = x\n"), first, "is no part of the language"},
      {preceded("lemma a(x)\n"), first, "nothing to show"},
      {preceded("lemma a(x)\n  given x = x\n"), first, "nothing to show"},
      {preceded("lemma a(x)\n  prove x = x\n"), first + 1, "'prove' is no line of 'lemma'"},
      {preceded("lemma a(x)\n  show x = x\n  show x = 1\n"), first + 2, "a second 'show'"},
      {preceded("lemma a(x)\n  show x = y\n"), first + 1, "'y' is not defined here"},
      {preceded("lemma a(x)\n  show rank = rank\n"), first + 1, "'rank' means nothing here"},
      {preceded("lemma a(x)\n  show f(x) = x\n"), first + 1, "'f' is not a function"},
      {preceded("lemma a(x)\n  show size[x] = x\n"), first + 1, "'size' is not a table"},
      {preceded("lemma a(x)\n  show x\n"), first + 1, "a condition is wanted"},
      {preceded("lemma a(x)\n  show x = (1 = 1)\n"), first + 1, "a condition is wanted"},
      {preceded("lemma a(x)\n  show x = \n"), first + 1, "a value is wanted"},
      {preceded("lemma a(x)\n  show x = 99999999999999999999\n"), first + 1,
       "99999999999999999999 is too great; the greatest number is 9223372036854775807"},
      {preceded("lemma a(x)\n  show x = x\n  induction y from 0 to 1\n"), first + 2,
       "'y' is not a variable of the lemma"},
      {preceded("lemma a(x)\n  show x = x\n  induction x from 0\n"), first + 2, "expected 'to'"},
      {preceded("lemma a(x)\n  show x = x\n  use\n"), first + 2, "expected an axiom or lemma"},
      {preceded("lemma a(x)\n  show x = x\nlemma a(x)\n  show x = x\n"), first + 2,
       "a second 'lemma a'"},
      {preceded("define f(x)\n"), first, "it wants one line, 'as NUMBER'"},
      {preceded("define f(x)\n  as x = x\n"), first + 1, "a number is wanted"},
      {preceded("define f(x)\n  as f(x)\n"), first + 1, "'f' is not a function"},
      {preceded("refute a(x)\n  show x = 1\n  use monotone(x, x, x)\n"), first + 2,
       "'use' is no line of 'refute'"},
      {preceded("match send 9\n"), first, "the program has no 'send 9' to 'match'"},
      {preceded("match copy 1\n"), first, "nothing is asked of 'copy 1' that needs 'match'"},
      {preceded("match\n"), first, "expected send, receive, copy or reduce"},
      {preceded("once send 1\n"), first, "nothing is asked of 'send 1' that needs 'once'"},
      {preceded("keys step\n"), first, "the program has no 'step' to 'keys'"},
      {changed("match send 1\n", "match send 1\n  use magic(rank)\n"), first + 1,
       "there is no axiom and no lemma 'magic'"},
      {preceded("order\n  from 1\n"), first + 1, "'from' is no line of 'order'"},
      {preceded("port\n  inside send 7\n"), first + 1, "it wants 'inside send NUMBER'"},
      {preceded("port\n  inside\n"), first + 1, "it wants 'inside send NUMBER'"},
      {preceded("cover\n"), first + 5, "a second 'cover'"},
  });
}

TEST(ProofFile, WithABadWitnessIsRefused) {
  const int first = kHeadingLines + 2;  // the first line below `match send 1`
  const auto witness = [](const std::string& line) {
    return changed("with receive 1 where round = round", line);
  };
  all_refused({
      {witness("with"), first, "expected send, receive, copy or reduce"},
      {witness("with letter 1"), first, "'letter' is not send, receive, copy or reduce"},
      {witness("with receive 7 where round = round"), first, "the program has no such site"},
      {witness("with receive 4294967297 where round = round"), first,
       "the program has no such site"},
      {witness("with receive one where round = round"), first, "the number of the site is wanted"},
      {witness("with receive 1 where round = round, round = 7"), first,
       "a second value for 'round'"},
      {witness("with receive 1"), first, "no value for 'round'"},
      {witness("with receive 1 where round = round, i = 0"), first, "no loop variable 'i'"},
      {witness("with receive 1 where round = rounds"), first, "'rounds' is not defined here"},
      {witness("with receive 1 where round = round = round"), first, "a number is wanted"},
      {witness("with receive 1 where round = round if round"), first, "a condition is wanted"},
      {witness("with receive 1 where round = round, "), first, "expected a loop variable"},
      {witness("with send 1 where round = round"), first, "send 1 cannot be matched with send 1"},
      {witness("with copy 1 where round = round"), first, "send 1 cannot be matched with copy 1"},
      {changed("match send 1\n  with receive 1 where round = round\n", ""), 0, "no 'match send 1'"},
      {changed("cover\n  with receive 1", "cover\n  with send 1"), kHeadingLines + 6,
       "'cover' names what writes nothing to the receive buffer"},
      {changed("wrap(source + target, ranks)", "wrap(rank + target, ranks)"), kHeadingLines + 6,
       "'rank' means nothing here"},
      {changed("cover\n  with receive 1 where round = wrap(source + target, ranks)\n", ""), 0,
       "no 'cover'"},
      {changed("copies\n  with copy 1", "copies\n  with send 1"), kHeadingLines + 8,
       "'copies' names what is no copy"},
      {changed("copies\n  with copy 1 where round = wrap(rank + rank, ranks)\n", ""), 0,
       "no 'copies'"},
      {changed("keys round\n  from round\n  to round + 1\n", ""), 0, "no 'keys round'"},
      {changed("  from round\n", ""), kHeadingLines + 9, "it wants 'from NUMBER' and 'to NUMBER'"},
      {changed("  to round + 1\n", "  from round\n"), kHeadingLines + 11, "a second 'from'"},
      {changed("  to round + 1\n", "  to round + 1\n  to 0\n"), kHeadingLines + 12,
       "a second 'to'"},
  });
}

// A proof file that is cut off anywhere is read, or refused with a message. It never crashes the reader.
TEST(ProofFile, CutOffAnywhereIsReadOrRefused) {
  const std::string good = proof_text(kFactor, kFactorProof);
  for (size_t length = 0; length < good.size(); ++length) {
    const std::string sentence = refusal(good.substr(0, length));
    EXPECT_TRUE(sentence.empty() || sentence.starts_with("bad.proof:")) << length << sentence;
  }
}

TEST(ProofFile, WithAnyByteChangedIsReadOrRefused) {
  const std::string good = proof_text(kFactor, kFactorProof);
  int refused = 0;
  for (size_t at = 0; at < good.size(); ++at)
    for (const char byte : {'\0', ' ', '\n', '(', '9', '\xff'}) {
      std::string text = good;
      text[at] = byte;
      const std::string sentence = refusal(text);
      refused += !sentence.empty();
      EXPECT_TRUE(sentence.empty() || sentence.starts_with("bad.proof:")) << at << sentence;
    }
  EXPECT_GT(refused, static_cast<int>(good.size()));
}

TEST(ProofFile, OfDeepParenthesesIsReadOrRefused) {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "(";
  EXPECT_THAT(refusal(preceded("lemma a(x)\n  show " + deep + "x\n")),
              testing::StartsWith("bad.proof:6:"));
}

}  // namespace quadrille::verifier::proof_test
