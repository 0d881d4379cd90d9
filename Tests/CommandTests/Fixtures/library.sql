CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE author (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE UNIQUE, born DATE, alive BOOLEAN NOT NULL,
  country TEXT REFERENCES country (code) ON DELETE SET NULL, mentor INTEGER REFERENCES author (id));
CREATE TABLE book (
  id INTEGER PRIMARY KEY, title TEXT NOT NULL, price REAL, added DATETIME,
  author_id INTEGER NOT NULL REFERENCES author ON DELETE CASCADE, cover BLOB, token UUID, odd);
CREATE INDEX book_price ON book (price DESC, title);
CREATE INDEX book_author ON book (author_id);
CREATE INDEX book_part ON book (price) WHERE price > 5;
CREATE INDEX book_length ON book (length(title));
CREATE TABLE tag (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE book_tag (
  book INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
  tag TEXT NOT NULL REFERENCES tag (name) ON DELETE CASCADE, PRIMARY KEY (book, tag));
CREATE TABLE loan (
  book INTEGER NOT NULL REFERENCES book (id), person TEXT NOT NULL, "where" TEXT, PRIMARY KEY (book, person));
CREATE TABLE log (line TEXT, "a.b" INTEGER);
CREATE TABLE lost (id INTEGER PRIMARY KEY, book INTEGER REFERENCES book (id));
CREATE TABLE part (loan_book INTEGER, loan_person TEXT, id INTEGER PRIMARY KEY,
  FOREIGN KEY (loan_book, loan_person) REFERENCES loan (book, person));
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE VIEW cheap AS SELECT * FROM book WHERE price < 5;
INSERT INTO country VALUES ('fr', 'France'), ('us', 'USA');
INSERT INTO author VALUES
  (1, 'Le Guin', '1929-10-21', 0, 'us', NULL), (2, 'Verne', '1828-02-08', 0, 'fr', 1), (3, 'Nobody', NULL, 1, NULL, 3);
INSERT INTO book VALUES
  (1, 'The Dispossessed', 8, '2026-01-02 03:04:05.678', 1, x'0102', x'000102030405060708090a0b0c0d0e0f', 1),
  (2, 'Mobilis', 4.5, '2026-01-02T03:04:05Z', 2, NULL, 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'x'),
  (3, 'Ångström "x"', NULL, NULL, 2, x'', NULL, x'ff');
INSERT INTO tag VALUES ('sf'), ('sea');
INSERT INTO book_tag VALUES (1, 'sf'), (2, 'sf'), (2, 'sea');
INSERT INTO loan VALUES (1, 'Ann', 'here'), (1, 'Bob', NULL);
INSERT INTO log VALUES ('one', 1), ('two', NULL);
INSERT INTO lost VALUES (1, 1), (2, 99);
INSERT INTO part VALUES (1, 'Ann', 1);
INSERT INTO grdb_migrations VALUES ('v1');
