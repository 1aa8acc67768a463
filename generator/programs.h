// Makes the algorithms whose programs and proofs are texts in generator/programs.
#ifndef QUADRILLE_GENERATOR_PROGRAMS_H_
#define QUADRILLE_GENERATOR_PROGRAMS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "generator/registry.h"

namespace quadrille {

// Texts by the names of their files, without the extension. The build embeds the files (embed_programs.sh).
using TextFiles = std::map<std::string, std::string, std::less<>>;
const TextFiles& program_texts();
const TextFiles& proof_texts();
const TextFiles& lemma_texts();

// Adds them to `all`. Sequences may have parts that are there already.
void add_written_algorithms(std::vector<Algorithm>& all);

// Returns the text of a proof with all its includes replaced by fragments, from generator/lemmas and the proof
// itself. Aborts if one does not exist.
std::string put_in_lemmas(const std::string& file, const std::string& text);

// Returns a function that gives the proof in generator/programs/FILE.proof with its fragments, whatever the choices.
std::function<std::string(const Choices&)> written_proof(const std::string& file);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_PROGRAMS_H_
