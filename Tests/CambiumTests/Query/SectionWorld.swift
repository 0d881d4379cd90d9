import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A record with properties to make sections by, some of whose values are hard to tell apart.
struct Volume: Record, Identifiable, Sendable {
  var id: Int
  var title = ""
  var genre: String?
  var rating = 0.0
  var isLent = false
  var tags: [String] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "title", type: .string)
    Field(name: "genre", type: .string, optional: true)
    Field(name: "rating", type: .double)
    Field(name: "isLent", type: .boolean)
    Field(name: "tags", type: .array(of: .string))
    Index("genre", "title", named: "genreTitle")
    Index(.descending("title"), named: "title")
  }

  static let model = StoreModel(records: [Volume.self])

  static let titles = ["a", "b", "B", "c"]
  /// Two that Swift takes for the same, two that differ in case only, and two whose keys an index cuts.
  static let genres: [String?] = [
    nil, "", "é", "e\u{301}", "é", "rock", "Rock", String(repeating: "x", count: 2_000) + "a",
    String(repeating: "x", count: 2_000) + "b",
  ]
  static let ratings = [
    0.0, -0.0, 1.5, -.infinity, .nan, -.nan, Double(nan: 7, signaling: false),
  ]

  static func random(_ id: Int, _ generator: inout SplitMix64) -> Volume {
    Volume(
      id: id, title: titles.randomElement(using: &generator) ?? "",
      genre: genres.randomElement(using: &generator) ?? nil,
      rating: ratings.randomElement(using: &generator) ?? 0,
      isLent: Bool.random(using: &generator))
  }

  /// Saves or deletes some of `count` records.
  static func change(
    _ store: PersistentStore, of count: Int, _ generator: inout SplitMix64
  ) async throws {
    var random = generator
    try await store.write(durability: .relaxed) { transaction in
      if Int.random(in: 0..<40, using: &random) == 0 { try transaction.deleteAll(Volume.self) }
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let id = Int.random(in: 0..<count, using: &random)
        if Int.random(in: 0..<3, using: &random) == 0 {
          try transaction.delete(Volume.self, key: id)
        } else {
          try transaction.save(Volume.random(id, &random))
        }
      }
    }
    generator = random
  }
}

extension Volume: Equatable {
  /// Exactly: also strings that Swift takes for the same, and NaN.
  static func == (one: Volume, other: Volume) -> Bool {
    one.id == other.id && one.exact == other.exact
  }

  private var exact: [[UInt8]] {
    [Array(title.utf8), Array("\(genre == nil)\(genre ?? "")".utf8), Array("\(isLent)".utf8)]
      + [Array("\(rating.bitPattern)".utf8)]
  }
}

/// Sections as tests compare them: a key of an order that has −0.0 and 0.0 at one place is written in one way.
struct ShownSection: Equatable, CustomStringConvertible {
  let key: [UInt8]
  let volumes: [Volume]

  init<Key>(_ section: RecordSection<Volume, Key>) {
    self.init("\(section.key)", section.records)
  }

  init(_ key: String, _ volumes: [Volume]) {
    let isNotANumber = key == "-nan" || key.hasPrefix("nan")
    self.key = Array((key == "-0.0" ? "0.0" : isNotANumber ? "nan" : key).utf8)
    self.volumes = volumes
  }

  var description: String {
    "\(String(decoding: key.prefix(9), as: UTF8.self)): \(volumes.map(\.id))"
  }
}

// MARK: - The model

/// A property, with the order that the documentation says its values have.
enum VolumeProperty: CaseIterable {
  case genre, rating, isLent, title

  /// Negative, zero or positive.
  func compare(_ one: Volume, _ other: Volume) -> Int {
    switch self {
    case .genre:
      switch (one.genre, other.genre) {
      case (nil, nil): 0
      case (nil, _): -1
      case (_, nil): 1
      case (let one?, let other?): Self.compare(one, other)
      }
    case .rating:
      if one.rating.isNaN || other.rating.isNaN {
        (one.rating.isNaN ? 1 : 0) - (other.rating.isNaN ? 1 : 0)
      } else {
        one.rating < other.rating ? -1 : one.rating > other.rating ? 1 : 0
      }
    case .isLent: (one.isLent ? 1 : 0) - (other.isLent ? 1 : 0)
    case .title: Self.compare(one.title, other.title)
    }
  }

  private static func compare(_ one: String, _ other: String) -> Int {
    if one.utf8.elementsEqual(other.utf8) { return 0 }
    return one.utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
  }
}

/// One step of an order, in the store's form and in the model's.
struct VolumeOrder {
  let property: VolumeProperty
  var isDescending = false
  var isCaseInsensitive = false

  var order: Query<Volume>.Order {
    switch (property, isDescending) {
    case (.genre, false): .ascending(\.genre, caseInsensitive: isCaseInsensitive)
    case (.genre, true): .descending(\.genre, caseInsensitive: isCaseInsensitive)
    case (.title, false): .ascending(\.title, caseInsensitive: isCaseInsensitive)
    case (.title, true): .descending(\.title, caseInsensitive: isCaseInsensitive)
    case (.rating, false): .ascending(\.rating)
    case (.rating, true): .descending(\.rating)
    case (.isLent, false): .ascending(\.isLent)
    case (.isLent, true): .descending(\.isLent)
    }
  }

  func compare(_ one: Volume, _ other: Volume) -> Int {
    var (one, other) = (one, other)
    if isCaseInsensitive {
      // Of the values above, only these differ from their lowercase.
      for (upper, lower) in [("Rock", "rock"), ("B", "b")] {
        if one.genre == upper { one.genre = lower }
        if other.genre == upper { other.genre = lower }
        if one.title == upper { one.title = lower }
        if other.title == upper { other.title = lower }
      }
    }
    let order = property.compare(one, other)
    return isDescending ? -order : order
  }
}

/// A query of volumes and a property to make sections by, with the model that says what the sections are.
struct SectionQuery: CustomStringConvertible {
  let section: VolumeProperty
  var orders: [VolumeOrder] = []
  var isOfLent = false
  /// The record after which sections begin, as it was when they were first read.
  var after: Volume?
  var limit: Int?
  var offset = 0

  init(by section: VolumeProperty) { self.section = section }

  init(_ generator: inout SplitMix64) {
    section = VolumeProperty.allCases.randomElement(using: &generator) ?? .genre
    for property in VolumeProperty.allCases.shuffled(using: &generator)
      .prefix(Int.random(in: 0...3, using: &generator))
    {
      let hasCase = property == .genre || property == .title
      orders.append(
        VolumeOrder(
          property: property, isDescending: Bool.random(using: &generator),
          isCaseInsensitive: hasCase && Bool.random(using: &generator)))
    }
    isOfLent = Int.random(in: 0..<4, using: &generator) == 0
    if Int.random(in: 0..<3, using: &generator) == 0 {
      limit = Int.random(in: 0...12, using: &generator)
    }
    if Int.random(in: 0..<4, using: &generator) == 0 {
      offset = Int.random(in: 0...6, using: &generator)
    }
  }

  var query: Query<Volume> {
    var query = isOfLent ? Volume.where { $0.isLent == true } : Query()
    query.limit = limit
    query.offset = offset
    query.order = orders.map(\.order)
    if let after { query.after = [.integer(Int64(after.id))] }
    return query
  }

  var description: String { "\(query) by \(section)" }

  // MARK: What the sections are

  func sections(of volumes: [Volume]) -> [ShownSection] {
    var orders = orders
    let first = orders.first.flatMap { $0.property == section ? $0 : nil }
    orders.insert(
      VolumeOrder(property: section, isDescending: first?.isDescending ?? false), at: 0)
    if let first, first.isCaseInsensitive { orders.insert(first, at: 0) }
    func compare(_ one: Volume, _ other: Volume) -> Int {
      for order in orders {
        let result = order.compare(one, other)
        if result != 0 { return result }
      }
      return one.id - other.id
    }
    var sorted = volumes.filter { !isOfLent || $0.isLent }.sorted { compare($0, $1) < 0 }
    if let after { sorted = sorted.filter { compare($0, after) > 0 } }
    sorted = Array(sorted.dropFirst(offset).prefix(limit ?? .max))
    var sections: [[Volume]] = []
    for volume in sorted {
      if let last = sections.last?.last, section.compare(last, volume) == 0 {
        sections[sections.count - 1].append(volume)
      } else {
        sections.append([volume])
      }
    }
    return sections.map { ShownSection(key(of: $0[0]), $0) }
  }

  private func key(of volume: Volume) -> String {
    switch section {
    case .genre: "\(volume.genre as String?)"
    case .rating: "\(volume.rating)"
    case .isLent: "\(volume.isLent)"
    case .title: volume.title
    }
  }

  // MARK: What the store says

  func sections(
    in reader: borrowing some RecordReading & ~Copyable
  ) throws -> [ShownSection] {
    switch section {
    case .genre: try reader.sections(of: query, by: \.genre).map { ShownSection($0) }
    case .rating: try reader.sections(of: query, by: \.rating).map { ShownSection($0) }
    case .isLent: try reader.sections(of: query, by: \.isLent).map { ShownSection($0) }
    case .title: try reader.sections(of: query, by: \.title).map { ShownSection($0) }
    }
  }
}
