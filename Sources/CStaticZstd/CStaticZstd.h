#pragma once
#if !__has_include(<zstd.h>)
#error "zstd.h is missing: install libzstd-dev (Debian, Ubuntu) or libzstd-static (Fedora)"
#endif
#include <zstd.h>
#include <zstd_errors.h>
