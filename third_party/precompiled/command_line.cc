#include <CLI/CLI.hpp>

#include "third_party/precompiled/library.h"
