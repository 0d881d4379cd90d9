#pragma once
#include <sqlite3.h>

/// Stops counting allocated bytes, which takes a mutex at each allocation; SQLite's list of
/// recommended compile-time options has it first after the mutexes. Only before SQLite is used.
static inline int csqlite_disable_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
