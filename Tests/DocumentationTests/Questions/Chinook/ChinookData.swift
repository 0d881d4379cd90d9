import Cambium
import FoundationEssentials

extension Chinook {
  /// A store with some hundred records.
  static func makeStore() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: model)
    try ChinookData().insert(into: store)
    return store
  }
}

/// The records of a music shop. Prices are multiples of a quarter, so sums of them are exact in any order.
struct ChinookData {
  /// How many times as many records there are.
  var scale = 1

  func insert(into store: PersistentStore) throws {
    try store.write { transaction in
      try transaction.insert(contentsOf: artists)
      try transaction.insert(contentsOf: genres)
      try transaction.insert(contentsOf: albums)
      try transaction.insert(contentsOf: tracks)
      try transaction.insert(contentsOf: playlists)
      try transaction.insert(contentsOf: employees)
      try transaction.insert(contentsOf: customers)
      try transaction.insert(contentsOf: (1...90 * scale).map { invoice($0) })
      try transaction.insert(contentsOf: (1...90 * scale).flatMap { lines(of: $0) })
    }
  }

  private typealias Artist = Chinook.Artist
  private typealias Genre = Chinook.Genre
  private typealias Album = Chinook.Album
  private typealias Track = Chinook.Track
  private typealias Playlist = Chinook.Playlist
  private typealias Employee = Chinook.Employee
  private typealias Customer = Chinook.Customer
  private typealias Invoice = Chinook.Invoice
  private typealias InvoiceLine = Chinook.InvoiceLine

  /// The last of each fourteen have no albums.
  private var artists: [Artist] {
    let names = [
      "Accept", "Buddy", "Chico", "Deep", "Elis", "Faith", "Gil", "Helmet", "Iris", "Jamil", "Kiss",
      "Leila", "Marisa", "Nadia",
    ]
    return (0..<14 * scale).map { place in
      let name = names[place % 14]
      return Artist(id: place + 1, name: place < 14 ? name : "\(name) \(place / 14)")
    }
  }

  /// No track is an opera.
  private var genres: [Genre] {
    ["Rock", "Jazz", "Metal", "Latin", "Blues", "Opera"]
      .enumerated().map { Genre(id: $0.offset + 1, name: $0.element) }
  }

  private var albums: [Album] {
    (1...30 * scale).map { id in
      Album(
        id: id, title: "\(["Red", "Blue", "Green", "Black"][id % 4]) Album \(id % 7)",
        artist: Reference(1 + id * 5 % (12 * scale)))
    }
  }

  private var tracks: [Track] {
    (1...200 * scale).map { id in
      let first = ["Big", "My Love", "Blue", "One", "Lovely", "Night", "Old", "Broken"][id % 8]
      let second = ["Sun", "Moon", "Train", "River", "Road", "Star", "Rain"][id * 3 % 7]
      return Track(
        id: id, name: "\(first) \(second)",
        album: Reference(id % 3 == 0 ? 1 + id % (5 * scale) : 1 + id * 7 % (30 * scale)),
        genre: id % 11 == 0 ? nil : Reference(id % 4 == 0 ? 1 : 1 + id * 3 % 5),
        composer: id % 5 == 0 ? nil : ["Ada", "Bach", "Cage"][id % 3],
        milliseconds: 120_000 + id * 7_919 % 360_000, price: id % 3 == 0 ? 1.25 : 0.75)
    }
  }

  /// The last one is empty.
  private var playlists: [Playlist] {
    (1...8).map { id in
      Playlist(
        id: id, name: "List \(id)",
        tracks: id == 8
          ? [] : stride(from: id, through: 200 * scale, by: id * 5).map { Reference($0) })
    }
  }

  private var employees: [Employee] {
    [nil, 1, 1, 2, 2, 3, 3, 6].enumerated().map { place, manager in
      Employee(
        id: place + 1, name: "Employee \(place + 1)", reportsTo: manager.map { Reference($0) })
    }
  }

  /// Some have bought nothing, the last two among them.
  private var customers: [Customer] {
    (1...25 * scale).map { id in
      Customer(
        id: id, name: "\(["Lara", "Omar", "Pia", "Quin", "Rosa"][id % 5]) \(id)",
        country: ["Brazil", "Chile", "Denmark", "Egypt", "France", "Ghana"][id % 6],
        support: id % 7 == 0 ? nil : Reference(3 + id % 4))
    }
  }

  private func invoice(_ id: Int) -> Invoice {
    // From the beginning of 2024 on, one after five days, or as many more.
    let seconds = id * 432_000 / scale + id % 24 * 3_600
    let date = Date(timeIntervalSince1970: 1_704_067_200 + Double(seconds))
    let total = lines(of: id).map { $0.price * Double($0.quantity) }.reduce(0, +)
    return Invoice(id: id, customer: Reference(1 + id * 7 % (23 * scale)), date: date, total: total)
  }

  private func lines(of invoice: Int) -> [InvoiceLine] {
    (0...invoice % 4).map { number in
      let track = 1 + (invoice * 13 + number * 29) % (200 * scale)
      return InvoiceLine(
        id: invoice * 10 + number, invoice: Reference(invoice), track: Reference(track),
        price: track % 3 == 0 ? 1.25 : 0.75, quantity: 1 + (invoice + number) % 3)
    }
  }
}
