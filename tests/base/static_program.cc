// Prints whether it is linked statically. It is built both ways.
#include <cstdio>

#include "base/available_memory.h"

int main() { std::puts(tbtrace::is_static_program() ? "static" : "dynamic"); }
