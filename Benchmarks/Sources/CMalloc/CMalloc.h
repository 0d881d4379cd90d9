#pragma once
// `malloc_trim`, which Swift's Glibc module does not name.
#include <malloc.h>
