/// The questions in SQL, with the values to be bound. They serve GRDB and SQLite alone.
enum QueryStatements {
  enum Value {
    case text(String)
    case double(Double)
    case integer(Int)
  }

  static let schema = """
    CREATE TABLE person (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, joined DOUBLE NOT NULL,
      score DOUBLE NOT NULL, level INTEGER NOT NULL, weight DOUBLE NOT NULL, note TEXT);
    CREATE INDEX person_name ON person(name);
    CREATE INDEX person_joined ON person(joined);
    CREATE INDEX person_city_score ON person(city, score);
    """

  static func sql(_ workload: QueryWorkload) -> String {
    switch workload {
    case .equality: "SELECT * FROM person WHERE name = ?"
    case .range: "SELECT * FROM person WHERE joined >= ? AND joined < ?"
    // LIKE with a prefix as SQLite's documentation transforms it, if an index serves it.
    case .prefix: "SELECT * FROM person WHERE name >= ? AND name < ?"
    case .compound: "SELECT * FROM person WHERE city = ? AND score >= ? AND score < ?"
    case .orderedTop: "SELECT * FROM person WHERE joined < ? ORDER BY joined DESC, id LIMIT 20"
    case .sortedTop: "SELECT * FROM person ORDER BY weight DESC, id LIMIT 20"
    case .count: "SELECT COUNT(*) FROM person WHERE joined >= ? AND joined < ?"
    case .page: "SELECT * FROM person ORDER BY joined, id LIMIT 20 OFFSET ?"
    case .scan: "SELECT * FROM person WHERE level = ?"
    case .sum: "SELECT SUM(weight) FROM person"
    case .group: "SELECT city, COUNT(*), SUM(weight) FROM person GROUP BY city"
    }
  }

  static func values(_ workload: QueryWorkload, _ number: Int, of count: Int) -> [Value] {
    switch workload {
    case .equality: return [.text(Person.name(number % count))]
    case .range:
      let low = Double(number % (count * 9))
      return [.double(low), .double(low + 1_000)]
    case .prefix:
      let start = String(Person.name(number % count).dropLast(2))
      return [.text(start), .text(start + ":")]
    case .compound:
      let low = Double(number % 9_000)
      return [.text(Person.city(number % 100)), .double(low), .double(low + 100)]
    case .orderedTop: return [.double(Double(number % (count * 9) + count))]
    case .count:
      let low = Double(number % (count * 5))
      return [.double(low), .double(low + Double(count * 3))]
    case .page: return [.integer(count / 5 + number % 1_000)]
    case .scan: return [.integer(number % 100)]
    case .sortedTop, .sum, .group: return []
    }
  }
}
