#include "LibpqPeer.h"

#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Peer {
  PGconn *connection;
  // The bytes of all values, so that none is passed over.
  uint64_t seen;
};

Peer *peer_connect(const char *address) {
  Peer *peer = malloc(sizeof(Peer));
  if (!peer) return NULL;
  peer->seen = 0;
  peer->connection = PQconnectdb(address);
  if (PQstatus(peer->connection) == CONNECTION_OK) return peer;
  peer_end(peer);
  return NULL;
}

void peer_end(Peer *peer) {
  PQfinish(peer->connection);
  free(peer);
}

// The number of rows of a result, which is cleared.
static long end(Peer *peer, PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  long count = -1;
  if (status == PGRES_TUPLES_OK) {
    count = PQntuples(result);
    for (int row = 0; row < count; row++)
      for (int column = 0; column < PQnfields(result); column++) {
        int length = PQgetlength(result, row, column);
        if (length > 0) peer->seen += (unsigned char)PQgetvalue(result, row, column)[length - 1];
      }
  } else if (status == PGRES_COMMAND_OK) {
    count = atol(PQcmdTuples(result));
  } else {
    fprintf(stderr, "%s", PQresultErrorMessage(result));
  }
  PQclear(result);
  return count;
}

long peer_run(Peer *peer, const char *sql) { return end(peer, PQexec(peer->connection, sql)); }

long peer_prepare(Peer *peer, const char *name, const char *sql) {
  return end(peer, PQprepare(peer->connection, name, sql, 0, NULL));
}

long peer_copy_in(Peer *peer, const char *sql, const unsigned char *rows, size_t size) {
  PGresult *begun = PQexec(peer->connection, sql);
  ExecStatusType status = PQresultStatus(begun);
  PQclear(begun);
  if (status != PGRES_COPY_IN) return -1;
  for (size_t start = 0; start < size;) {
    size_t count = size - start < 1 << 20 ? size - start : 1 << 20;
    if (PQputCopyData(peer->connection, (const char *)rows + start, (int)count) != 1) return -1;
    start += count;
  }
  if (PQputCopyEnd(peer->connection, NULL) != 1) return -1;
  long copied = end(peer, PQgetResult(peer->connection));
  for (PGresult *next; (next = PQgetResult(peer->connection));) PQclear(next);
  return copied;
}

long peer_copy_out(Peer *peer, const char *sql, unsigned char **rows, size_t *size) {
  PGresult *begun = PQexec(peer->connection, sql);
  ExecStatusType status = PQresultStatus(begun);
  PQclear(begun);
  if (status != PGRES_COPY_OUT) return -1;
  size_t capacity = 0;
  *rows = NULL;
  *size = 0;
  char *next;
  int length;
  while ((length = PQgetCopyData(peer->connection, &next, 0)) > 0) {
    if (*size + (size_t)length > capacity) {
      capacity = 2 * (*size + (size_t)length);
      unsigned char *larger = realloc(*rows, capacity);
      if (!larger) return -1;
      *rows = larger;
    }
    memcpy(*rows + *size, next, (size_t)length);
    *size += (size_t)length;
    PQfreemem(next);
  }
  long copied = end(peer, PQgetResult(peer->connection));
  for (PGresult *rest; (rest = PQgetResult(peer->connection));) PQclear(rest);
  return copied;
}

long peer_find(Peer *peer, const char *name, const unsigned char *keys, long count) {
  long found = 0;
  for (long number = 0; number < count; number++) {
    const char *value = (const char *)keys + 16 * number;
    int length = 16, format = 1;
    PGresult *result =
        PQexecPrepared(peer->connection, name, 1, &value, &length, &format, 1);
    long rows = end(peer, result);
    if (rows < 0) return -1;
    found += rows;
  }
  return found;
}

long peer_query(Peer *peer, const char *name, long count) {
  long found = 0;
  for (long number = 0; number < count; number++) {
    long rows = end(peer, PQexecPrepared(peer->connection, name, 0, NULL, NULL, NULL, 1));
    if (rows < 0) return -1;
    found += rows;
  }
  return found;
}

static uint32_t read32(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

enum { headerSize = 19, columnsMax = 64 };

long peer_save(Peer *peer, const char *name, const unsigned char *rows, size_t size, long count) {
  size_t place = headerSize;
  long saved = 0;
  while (saved < count && place + 2 <= size) {
    int columns = rows[place] << 8 | rows[place + 1];
    place += 2;
    if (columns > columnsMax) break;
    const char *values[columnsMax];
    int lengths[columnsMax], formats[columnsMax];
    for (int column = 0; column < columns; column++) {
      uint32_t length = read32(rows + place);
      place += 4;
      values[column] = length == UINT32_MAX ? NULL : (const char *)rows + place;
      lengths[column] = length == UINT32_MAX ? 0 : (int)length;
      formats[column] = 1;
      place += (size_t)lengths[column];
    }
    if (end(peer, PQexec(peer->connection, "BEGIN ISOLATION LEVEL SERIALIZABLE")) < 0) return -1;
    PGresult *result =
        PQexecPrepared(peer->connection, name, columns, values, lengths, formats, 1);
    if (end(peer, result) < 0) return -1;
    if (end(peer, PQexec(peer->connection, "COMMIT")) < 0) return -1;
    saved += 1;
  }
  return saved;
}
