import ArgumentParser

/// A query, with a number that differs each time.
enum QueryWorkload: String, CaseIterable, ExpressibleByArgument {
  case equality, range, prefix, compound
  case orderedTop = "ordered-top-20"
  case sortedTop = "sorted-top-20"
  case count = "count-range"
  case page = "page-10000"
  case scan = "scan-1-percent"
  case sum, group

  /// How often it is asked in a round.
  var repetitions: Int {
    switch self {
    case .equality: 20_000
    case .range, .prefix, .compound, .orderedTop: 1_000
    case .count, .page: 20
    case .sortedTop, .scan, .sum, .group: 2
    }
  }

  /// Cambium's goal, in times of the engine.
  func goal(over engine: QueryEngineName) -> Double? {
    switch (self, engine) {
    case (.equality, .grdb), (.range, .grdb), (.prefix, .grdb), (.compound, .grdb),
      (.orderedTop, .grdb):
      5
    case (.count, .grdb), (.count, .sqlite), (.page, .grdb), (.page, .sqlite): 100
    case (.scan, .grdb): 10
    case (.scan, .sqlite): 1.5
    case (.sum, .sqlite): 2
    default: nil
    }
  }
}

enum QueryEngineName: String, CaseIterable, ExpressibleByArgument {
  case cambium, grdb, sqlite
}

/// The answer of an engine, so that answers can be compared.
struct QueryAnswer: Equatable {
  var count = 0
  /// Of the identifiers, or of the numbers that were asked for.
  var sum = 0.0

  mutating func add(_ person: Person) {
    count += 1
    sum += Double(person.id)
  }
}

/// A store of persons after one engine.
protocol QueryEngine: AnyObject {
  func load(_ persons: [Person]) throws
  func answer(_ workload: QueryWorkload, _ number: Int, of count: Int) throws -> QueryAnswer
}
