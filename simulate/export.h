// Writes a simulated call, or the script of one, in forms that other programs read.
#pragma once

#include <string>

#include "simulate/engine.h"

namespace quadrille {

// Returns the schedule in GOAL, the language of LogGOPSim (Hoefler, Schneider and Lumsdaine 2010): sends, receives,
// and what each one waits for. A `calc 0` stands for a moment at which a process has waited for several messages.
std::string goal_text(const Scripts& scripts);
// Returns trace events in microseconds for Perfetto or chrome://tracing. They show, by node, when each process waits
// or is busy. Arrows show messages.
std::string chrome_text(const Scripts& scripts, const Trace& trace);
// Returns CSV with a line for each message: sender, receiver, bytes, and the microseconds when its send was posted,
// when its receive was posted, and when it arrived.
std::string csv_text(const Scripts& scripts, const Trace& trace);

// Returns a time in picoseconds with four digits and a unit, "1.234 ms".
std::string time_text(int64_t picoseconds);
// Returns a size in the greatest unit of which it is a multiple: "1000 B", "4 KiB", "1 MiB".
std::string size_text(int64_t bytes);

}  // namespace quadrille
