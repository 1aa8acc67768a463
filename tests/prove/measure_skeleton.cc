#include <fmt/format.h>
#include <chrono>
#include <fstream>
#include <sstream>
#include <iostream>
#include "schedule/text.h"
#include "verifier/skeleton.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/explain.h"
using namespace quadrille; using namespace quadrille::verifier;
int main(int argc, char** argv) {
  bool text = false; unsigned work = 20'000'000;
  int tp=0,to=0;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    if (a == "--text") { text = true; continue; }
    if (a == "--work") { work = std::stoul(argv[++i]); continue; }
    std::ifstream in(a); std::stringstream s; s << in.rdbuf();
    auto program = parse_program(s.str(), a);
    if (!program.ok()) { fmt::print("{}: {}\n", a, program.error().message); continue; }
    auto t0 = std::chrono::steady_clock::now();
    auto sk = skeleton_of(*program, a);
    double secs = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    if (!sk.ok()) { fmt::print("{}\n", sk.error().message); continue; }
    if (text) fmt::print("{}\n", sk->text);
    std::string filled; size_t last = 0; int n = 0;
    std::string t = sk->text;
    if (i + 2 < argc && std::string(argv[i + 1]) == "--proof") { std::ifstream pin(argv[i + 2]); std::stringstream ps; ps << pin.rdbuf(); t = ps.str(); i += 2; }
    for (size_t at; (at = t.find("FILL_IN", last)) != std::string::npos;) {
      bool cond = at >= 3 && (t.substr(at-3,3) == "if " || (at >= 13 && t.substr(at-13,13) == "contributors "));
      filled += t.substr(last, at-last) + (cond ? fmt::format("ranks = {}", 100 + ++n) : "0");
      last = at + 7;
    }
    filled += t.substr(last);
    auto proof = parse_proof_of(*program, filled, a);
    if (!proof.ok()) { fmt::print("{}: {}\n", a, proof.error().message); continue; }
    auto plan = plan_proof(*proof);
    if (!plan.ok()) { fmt::print("{}: places {} PLAN {}\n", a, sk->places, plan.error().message); continue; }
    Prover prover({work, false});
    auto r = prover.prove(*proof, *plan);
    int open = 0; for (auto& o : r.obligations) open += !o.proven;
    tp += sk->places; to += open;
    fmt::print("{}: places {}, open {} of {}, skeleton {:.1f} s, proof {:.1f} s\n", a.substr(a.rfind('/')+1), sk->places, open, r.obligations.size(), secs, r.seconds);
    if (text) for (auto& o : r.obligations) if (!o.proven) { fmt::print("   {}: {}\n", o.name, o.failure);
      for (auto& ob : plan->obligations) if (ob.name == o.name) for (auto& l : explain(ob, o, *program, program_text(a, s.str()), {work, false})) fmt::print("      {}\n", l); }
    std::cout.flush();
  }
  fmt::print("total places {} open {}\n", tp, to);
}
