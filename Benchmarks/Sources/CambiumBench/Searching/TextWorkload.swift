import ArgumentParser

/// A query by words. Each repetition searches for other words.
enum TextWorkload: String, CaseIterable, ExpressibleByArgument {
  /// The texts that have two words of a given text, neither among the 20 most frequent words.
  case two = "two-words"
  /// The texts that have two frequent words: one text in ten or twenty has each.
  case frequent = "two-frequent-words"
  /// The first twenty texts with two words.
  case first = "first-20"
  /// The number of texts with two words.
  case count = "count-two-words"
  /// The number of texts with one.
  case countOne = "count-word"
  /// The texts with a word that begins with four letters.
  case prefix

  /// The number of queries in a round.
  var repetitions: Int {
    switch self {
    case .two, .first, .count, .countOne: 1_000
    case .frequent, .prefix: 100
    }
  }

  /// The goal: the ratio of SQLite's time to Cambium's.
  var goal: Double? {
    switch self {
    case .two, .frequent: 1
    case .first, .count, .countOne, .prefix: nil
    }
  }

  var isCount: Bool { self == .count || self == .countOne }

  /// The words to search for. Both engines split them alike; only the syntax of a prefix differs.
  func words(_ vocabulary: Vocabulary, _ random: inout SplitMix64) -> [String] {
    func rank(_ low: Int, _ high: Int) -> Int {
      var rank = 0
      repeat { rank = vocabulary.rank(&random) } while !(low..<high).contains(rank)
      return rank
    }
    switch self {
    case .two, .first, .count:
      return [vocabulary[rank(20, .max)], vocabulary[rank(20, .max)]]
    case .frequent: return [vocabulary[rank(8, 16)], vocabulary[rank(16, 32)]]
    case .countOne: return [vocabulary[rank(20, .max)]]
    case .prefix: return [String(vocabulary[rank(200, .max)].prefix(4))]
    }
  }
}

enum TextEngineName: String, CaseIterable, ExpressibleByArgument {
  case cambium, sqlite
}

/// A summary of an engine's results, to compare engines by.
struct TextAnswer: Equatable {
  var count = 0
  /// Of the identifiers and the bytes of the texts.
  var sum = 0

  mutating func add(_ text: PackageText) {
    count += 1
    sum &+= text.id &* 31 &+ text.body.utf8.count
  }
}

/// A store of texts, and an index of their words, in one engine.
protocol TextEngine: AnyObject {
  /// Inserts all; flushed when it returns.
  func load(_ texts: [PackageText]) throws
  /// Prepares for queries, untimed.
  func settle() throws
  func answer(_ workload: TextWorkload, _ words: [String]) throws -> TextAnswer
}
