#pragma once
#if !__has_include(<zstd.h>)
#error "zstd.h is missing: install libzstd-dev (Debian, Ubuntu), libzstd-devel (Fedora) or zstd (Homebrew)"
#endif
#include <zstd.h>
#include <zstd_errors.h>
