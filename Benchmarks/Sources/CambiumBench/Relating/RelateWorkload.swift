import ArgumentParser

/// What is done with related records.
enum RelateWorkload: String, CaseIterable, ExpressibleByArgument {
  /// Books with an author that is checked, 1,000 a transaction.
  case insert
  /// How many reviews, a thousand, lead to a critic.
  case count
  /// 1,000 authors in a transaction, with their 10,000 books.
  case cascade
  /// 1,000 critics in a transaction, whose 10,000 reviews are kept.
  case nullify
  /// 1,000 stations in a transaction that four relations lead to, none of them used.
  case unused

  /// What Cambium is to be, in times of GRDB.
  var goal: Double? {
    switch self {
    case .insert: 3
    case .count: 10
    case .cascade, .nullify: 2.5
    case .unused: nil
    }
  }
}

enum RelateEngineName: String, CaseIterable, ExpressibleByArgument {
  case cambium
  /// Cambium, with a plain field in the station of the reference to an author. It only inserts.
  case plain = "cambium-plain"
  case grdb
}

/// An engine that keeps a library. What it changes it answers with a number, by which engines are compared.
protocol RelateEngine {
  /// Takes in all but the books.
  func load(_ library: Library) throws
  func insert(_ books: ArraySlice<Book>) throws
  func countReviews(of critic: Int) throws -> Int
  /// Deletes authors in one transaction, and returns how many books are left.
  func deleteAuthors(_ ids: Range<Int>) throws -> Int
  /// Deletes critics in one transaction, and returns how many reviews have none.
  func deleteCritics(_ ids: Range<Int>) throws -> Int
  /// Deletes stations in one transaction, and returns how many are left.
  func deleteStations(_ ids: Range<Int>) throws -> Int
}

extension RelateEngineName {
  func open(in directory: String) throws -> any RelateEngine {
    switch self {
    case .cambium: try CambiumRelateEngine(directory: directory, isPlain: false)
    case .plain: try CambiumRelateEngine(directory: directory, isPlain: true)
    case .grdb: try GRDBRelateEngine(directory: directory)
    }
  }

  func takes(_ workload: RelateWorkload) -> Bool { self != .plain || workload == .insert }
}
