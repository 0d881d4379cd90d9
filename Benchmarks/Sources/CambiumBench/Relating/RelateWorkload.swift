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

  /// What it deletes.
  var kind: RelateKind? {
    switch self {
    case .insert, .count: nil
    case .cascade: .authors
    case .nullify: .critics
    case .unused: .stations
    }
  }

  /// The first that it deletes: behind those that the other workloads are about.
  var firstID: Int {
    switch self {
    case .insert, .count, .cascade: 0
    case .nullify: Library.busyCritics
    case .unused: 10_000
    }
  }
}

enum RelateEngineName: String, CaseIterable, ExpressibleByArgument {
  case cambium
  /// Cambium, with a plain field in the station of the reference to an author. It only inserts.
  case plain = "cambium-plain"
  case grdb
}

/// An engine that keeps a library.
protocol RelateEngine {
  /// Takes in all but the books.
  func load(_ library: Library) throws
  func insert(_ books: ArraySlice<Book>) throws
  func countReviews(of critic: Int) throws -> Int
  /// Deletes authors, critics or stations in one transaction.
  func delete(_ kind: RelateKind, _ ids: Range<Int>) throws
  /// How many books there are, reviews without a critic, or stations: by which engines are compared.
  func countLeft(_ kind: RelateKind) throws -> Int
}

/// What is deleted.
enum RelateKind {
  /// With their books.
  case authors
  /// Their reviews are kept.
  case critics
  case stations
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
