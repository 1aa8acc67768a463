#include "third_party/precompiled/library.h"
