// A simulated call, or the script of one, in the forms that other programs read.
#ifndef QUADRILLE_SIMULATE_EXPORT_H_
#define QUADRILLE_SIMULATE_EXPORT_H_

#include <string>

#include "simulate/engine.h"

namespace quadrille {

// The schedule in the language of LogGOPSim (Hoefler, Schneider and Lumsdaine 2010): sends, receives, and what each one
// waits for. A `calc 0` stands for a moment at which a process has waited for several messages.
std::string goal_text(const Scripts& scripts);
// Trace events for Perfetto or chrome://tracing, in microseconds: what each process waits for and is busy with, by node.
// Arrows show messages.
std::string chrome_text(const Scripts& scripts, const Trace& trace);
// A line for each message: from, to, bytes, and three times in microseconds: its send was posted, its receive was posted,
// it arrived.
std::string csv_text(const Scripts& scripts, const Trace& trace);

// "1.234 ms": four digits of a time in picoseconds.
std::string time_text(int64_t picoseconds);
// "1000 B", "4 KiB", "1 MiB".
std::string size_text(int64_t bytes);

}  // namespace quadrille

#endif  // QUADRILLE_SIMULATE_EXPORT_H_
