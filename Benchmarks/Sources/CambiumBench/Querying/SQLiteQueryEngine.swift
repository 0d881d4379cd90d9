/// SQLite alone, with prepared statements whose columns are read into structs one by one.
final class SQLiteQueryEngine: QueryEngine {
  private let connection: SQLiteConnection

  init(directory: String) throws {
    connection = try .searched(in: directory)
    try connection.run(QueryStatements.schema)
  }

  func load(_ persons: [Person]) throws {
    try connection.write(persons.count) {
      let insert = try connection.statement("INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      for person in persons {
        try insert.bind(number: person.id, at: 1)
        try insert.bind(person.name, at: 2)
        try insert.bind(person.city, at: 3)
        try insert.bind(person.joined, at: 4)
        try insert.bind(person.score, at: 5)
        try insert.bind(number: person.level, at: 6)
        try insert.bind(person.weight, at: 7)
        try insert.bind(person.note, at: 8)
        try insert.stepAndReset()
      }
    }
    try connection.run("ANALYZE")
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func answer(_ workload: QueryWorkload, _ number: Int, of count: Int) throws -> QueryAnswer {
    let statement = try connection.statement(QueryStatements.sql(workload))
    for (index, value) in QueryStatements.values(workload, number, of: count).enumerated() {
      switch value {
      case .text(let text): try statement.bind(text, at: Int32(index + 1))
      case .double(let double): try statement.bind(double, at: Int32(index + 1))
      case .integer(let integer): try statement.bind(number: integer, at: Int32(index + 1))
      }
    }
    var answer = QueryAnswer()
    var persons: [Person] = []
    while try statement.step() {
      switch workload {
      case .count: answer.count = statement.number(0)
      case .sum: answer = QueryAnswer(count: 1, sum: statement.double(0))
      case .group:
        answer.count += statement.number(1)
        answer.sum += statement.double(2)
      default: persons.append(person(statement))
      }
    }
    try statement.reset()
    for person in persons { answer.add(person) }
    return answer
  }

  private func person(_ row: SQLiteStatement) -> Person {
    Person(
      id: row.number(0), name: row.text(1) ?? "", city: row.text(2) ?? "", joined: row.double(3),
      score: row.double(4), level: row.number(5), weight: row.double(6), note: row.text(7))
  }
}
