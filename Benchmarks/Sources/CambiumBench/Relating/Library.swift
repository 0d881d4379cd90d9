/// An author, whose deletion deletes the books.
struct Author: Codable, Hashable, Sendable, Identifiable {
  var id: Int
  var name: String
}

/// A book; its author is required.
struct Book: Codable, Hashable, Sendable, Identifiable {
  var id: Int
  var title: String
  var author: Int
  var price: Int
}

/// A critic; the reviews are kept without one.
struct Critic: Codable, Hashable, Sendable, Identifiable {
  var id: Int
  var name: String
}

struct Review: Codable, Hashable, Sendable, Identifiable {
  var id: Int
  var text: String
  var critic: Int?
}

/// A station that four relations lead to.
struct Station: Codable, Hashable, Sendable, Identifiable {
  var id: Int
  var name: String
}

struct Trip: Codable, Hashable, Sendable, Identifiable {
  var id: Int
  var start: Int?
  var end: Int?
  var rest: Int?
  var home: Int?
}

/// The records that engines keep, the same for all.
struct Library {
  let authors: [Author]
  /// Ten of each author, in random order.
  let books: [Book]
  let critics: [Critic]
  /// A thousand of each of the first critics, ten of each of the others.
  let reviews: [Review]
  let stations: [Station]
  /// They lead to the first half of the stations.
  let trips: [Trip]

  /// The number of critics with a thousand reviews.
  static let busyCritics = 20

  init(bookCount: Int, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    authors = (0..<max(1, bookCount / 10)).map { Author(id: $0, name: "Author \($0)") }
    var writers = (0..<bookCount).map { $0 / 10 }
    writers.shuffle(using: &random)
    books = writers.enumerated().map { id, author in
      Book(
        id: id, title: "Book \(id) of an author", author: min(author, bookCount / 10 - 1),
        price: Int(random.next() % 1_000))
    }
    critics = (0..<max(Self.busyCritics, bookCount / 20)).map {
      Critic(id: $0, name: "Critic \($0)")
    }
    var owners = critics.flatMap { critic in
      [Int](repeating: critic.id, count: critic.id < Self.busyCritics ? 1_000 : 10)
    }
    owners.shuffle(using: &random)
    reviews = owners.enumerated().map { Review(id: $0, text: "Review \($0)", critic: $1) }
    stations = (0..<20_000).map { Station(id: $0, name: "Station \($0)") }
    trips = (0..<20_000).map { id in
      func station() -> Int { Int(random.next() % 10_000) }
      return Trip(id: id, start: station(), end: station(), rest: station(), home: station())
    }
  }
}
