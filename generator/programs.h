// Makes the algorithms whose programs and proofs are texts in generator/programs.
#pragma once

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

// Returns an algorithm without options. Its proof is generator/programs/COLLECTIVE.NAME.proof with its fragments.
Algorithm with_written_proof(const std::string& name, Collective collective,
                             const std::string& program, std::vector<Number> numbers = {});

}  // namespace quadrille
