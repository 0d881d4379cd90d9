/// SQLite's FTS5 by prepared statements, with its default tokenizer, and texts in the table that is searched.
///
/// All is inserted in one transaction, and the segments of the index are merged (`optimize`) before queries, untimed.
final class SQLiteTextEngine: TextEngine {
  private let connection: SQLiteConnection

  init(directory: String) throws {
    connection = try .searched(in: directory)
    try connection.run("CREATE VIRTUAL TABLE package USING fts5(body)")
  }

  func load(_ texts: [PackageText]) throws {
    try connection.write(texts.count) {
      let insert = try connection.statement("INSERT INTO package (rowid, body) VALUES (?, ?)")
      for text in texts {
        try insert.bind(number: text.id, at: 1)
        try insert.bind(text.body, at: 2)
        try insert.stepAndReset()
      }
    }
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func settle() throws {
    try connection.run("INSERT INTO package (package) VALUES ('optimize')")
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func answer(_ workload: TextWorkload, _ words: [String]) throws -> TextAnswer {
    let columns = workload.isCount ? "COUNT(*)" : "rowid, body"
    let limit = workload == .first ? " LIMIT 20" : ""
    let select = try connection.statement(
      "SELECT \(columns) FROM package WHERE package MATCH ?\(limit)")
    try select.bind(
      workload == .prefix ? words[0] + "*" : words.joined(separator: " AND "), at: 1)
    var answer = TextAnswer()
    var texts: [PackageText] = []
    while try select.step() {
      if workload.isCount {
        answer.count = select.number(0)
      } else {
        texts.append(PackageText(id: select.number(0), body: select.text(1) ?? ""))
      }
    }
    try select.reset()
    for text in texts { answer.add(text) }
    return answer
  }
}
