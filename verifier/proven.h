// The proofs that this verifier was built with, and the programs that they prove. The build makes the table
// (certify.cc): it runs the prover over every proof in emitted/proofs, and fails if one does not hold.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace quadrille::verifier {

struct ProvenProgram {
  std::string_view name;   // "alltoall.hierarchical-factor"
  std::string_view proof;  // the text of the proof
  std::span<const uint8_t> code;
  std::string_view scope;  // in words: "all sizes, counts and values of B"
};

std::span<const ProvenProgram> proven_programs();

}  // namespace quadrille::verifier
