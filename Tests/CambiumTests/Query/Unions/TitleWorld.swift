import Cambium
import TestSupport

struct Film: Record, Identifiable, Equatable {
  var id: Int
  var title: String
  var year: Int?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "title", type: .string)
    Field(name: "year", type: .integer, optional: true)
    Index("year", named: "year")
  }
}

/// Its key, and the order of its fields, are other ones than a film's.
struct Series: Record, Equatable {
  var code: String
  var start: Int?
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "code", type: .string)
    Field(name: "start", type: .integer, optional: true)
    Field(name: "name", type: .string)
    Index("start", named: "start")
  }
}

/// A row of a union of films and series.
struct TitleRow: Hashable {
  var title: String
  var year: Int?
}

/// Films and series as arrays, and the rows that unions of them have.
struct TitleWorld {
  var films: [Film] = []
  var series: [Series] = []

  func store(_ options: StoreOptions = StoreOptions()) throws -> PersistentStore {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Film.self, Series.self]), options: options)
    try store.write { try $0.insert(contentsOf: films) }
    try store.write { try $0.insert(contentsOf: series) }
    return store
  }

  /// Films by their keys.
  var filmRows: [TitleRow] {
    films.sorted { $0.id < $1.id }.map { TitleRow(title: $0.title, year: $0.year) }
  }

  /// Series by their keys.
  var seriesRows: [TitleRow] {
    series.sorted { Array($0.code.utf8).lexicographicallyPrecedes(Array($1.code.utf8)) }
      .map { TitleRow(title: $0.name, year: $0.start) }
  }
}

/// An order of rows, as a comparison of each column: negative if the first row comes first.
struct TitleOrder {
  typealias Comparison = (TitleRow, TitleRow) -> Int

  var comparisons: [Comparison] = []

  static func by<Value>(
    _ value: @escaping (TitleRow) -> Value, _ isLess: @escaping (Value, Value) -> Bool,
    descending: Bool = false
  ) -> Comparison {
    { one, other in
      let sign =
        isLess(value(one), value(other)) ? -1 : isLess(value(other), value(one)) ? 1 : 0
      return descending ? -sign : sign
    }
  }

  static func title(descending: Bool = false) -> Comparison {
    by(
      { Array($0.title.utf8) }, { $0.lexicographicallyPrecedes($1) }, descending: descending)
  }

  static func year(descending: Bool = false) -> Comparison {
    by({ $0.year ?? .min }, <, descending: descending)
  }

  /// Returns rows in the order; those that agree in it stay in theirs.
  func sorted(_ rows: [TitleRow]) -> [TitleRow] {
    rows.enumerated().sorted { one, other in
      for comparison in comparisons {
        let sign = comparison(one.element, other.element)
        if sign != 0 { return sign < 0 }
      }
      return one.offset < other.offset
    }.map(\.element)
  }
}

extension [TitleRow] {
  /// The rows, each once: where it comes first.
  var distinct: [TitleRow] {
    var known: Set<[String]> = []
    return filter { row in
      // Strings are the same if their bytes are, and not already if they look alike.
      known.insert(["\([UInt8](row.title.utf8))", "\(row.year as Int?)"]).inserted
    }
  }

  func window(limit: Int?, offset: Int) -> [TitleRow] {
    let rest = dropFirst(offset)
    return Array(limit.map { rest.prefix($0) } ?? rest)
  }
}
