// What a program does by hand with libpq: the peer that the benchmark compares with.
#ifndef LIBPQ_PEER_H
#define LIBPQ_PEER_H

#include <stddef.h>

typedef struct Peer Peer;

// Connects. Null if that fails.
Peer *peer_connect(const char *address);
void peer_end(Peer *peer);

// Each of these returns the number of rows that were returned, copied or changed, and -1 if it fails.

// Runs statements.
long peer_run(Peer *peer, const char *sql);
// Prepares a statement under a name.
long peer_prepare(Peer *peer, const char *name, const char *sql);
// Copies rows in the binary form into a table, with header and trailer.
long peer_copy_in(Peer *peer, const char *sql, const unsigned char *rows, size_t size);
// Copies rows out of a table in the binary form. The caller frees `rows`.
long peer_copy_out(Peer *peer, const char *sql, unsigned char **rows, size_t *size);
// Runs a prepared statement for each UUID, and looks at each value.
long peer_find(Peer *peer, const char *name, const unsigned char *keys, long count);
// Runs a prepared statement without parameters so many times, and looks at each value.
long peer_query(Peer *peer, const char *name, long count);
// Runs a prepared statement with the values of each row, in the form of `peer_copy_out`, for at most so many rows. Each is a transaction
// that is serializable.
long peer_save(Peer *peer, const char *name, const unsigned char *rows, size_t size, long count);

#endif
