// Makes the list of algorithms. The programs and proofs of nearly all are texts in generator/programs.
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

// Returns all algorithms, in the order in which `list` prints them.
std::vector<Algorithm> all_algorithms();

// Returns the text of a proof with all its includes replaced by fragments, from generator/lemmas and the proof
// itself. Aborts if one does not exist.
std::string put_in_lemmas(const std::string& file, const std::string& text);

}  // namespace quadrille
