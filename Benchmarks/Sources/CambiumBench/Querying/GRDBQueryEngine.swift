import GRDB

/// GRDB, with a Codable record and cached statements.
final class GRDBQueryEngine: QueryEngine {
  private let pool: DatabasePool

  init(directory: String) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -1048576")
      try database.execute(sql: "PRAGMA mmap_size = \(Int32.max)")
    }
    pool = try DatabasePool(path: directory + "/store.sqlite", configuration: configuration)
    try pool.write { database in try database.execute(sql: QueryStatements.schema) }
  }

  func load(_ persons: [Person]) throws {
    try pool.write { database in
      for person in persons { try person.insert(database) }
    }
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "ANALYZE")
      _ = try database.checkpoint(.truncate)
    }
  }

  func answer(_ workload: QueryWorkload, _ number: Int, of count: Int) throws -> QueryAnswer {
    try pool.read { database in
      let statement = try database.cachedStatement(sql: QueryStatements.sql(workload))
      let arguments = StatementArguments(
        QueryStatements.values(workload, number, of: count).map {
          value -> any DatabaseValueConvertible in
          switch value {
          case .text(let text): text
          case .double(let double): double
          case .integer(let integer): integer
          }
        })
      var answer = QueryAnswer()
      switch workload {
      case .count:
        answer.count = try Int.fetchOne(statement, arguments: arguments) ?? 0
      case .sum:
        answer = QueryAnswer(
          count: 1, sum: try Double.fetchOne(statement, arguments: arguments) ?? 0)
      case .group:
        for row in try Row.fetchAll(statement, arguments: arguments) {
          answer.count += row[1] as Int
          answer.sum += row[2] as Double
        }
      default:
        for person in try Person.fetchAll(statement, arguments: arguments) { answer.add(person) }
      }
      return answer
    }
  }
}
