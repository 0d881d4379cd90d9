import TestSupport

@testable import Cambium

// Records with every kind of relation, for conditions across them.

struct Region: Record, Identifiable, Equatable {
  var id: Int
  var name: String
  var rank: Double?

  static let poets = Inverse("poets", of: \Poet.region)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, indexed: true)
    Field(name: "rank", type: .double, optional: true)
    poets
  }
}

struct Poet: Record, Identifiable, Equatable {
  var id: String
  var name: String
  var born: Int?
  var region: Reference<Region>?

  static let poems = Inverse("poems", of: \Poem.poet, deleteRule: .cascade)
  static let finds = Inverse("finds", of: \Poem.finder, deleteRule: .noAction)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
    Field(name: "name", type: .string, indexed: true)
    Field(name: "born", type: .integer, optional: true)
    Field(name: "region", type: .reference(to: Region.self), optional: true)
    poems
    finds
  }
}

struct Theme: Record, Identifiable, Equatable {
  var id: Int64
  var text: String

  static let poems = Inverse("poems", of: \Poem.themes)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
    poems
  }
}

struct Poem: Record, Identifiable, Equatable {
  var id: Int
  var name: String
  var year: Int
  var price: Double?
  var poet: Reference<Poet>
  /// Not checked, and without an index.
  var finder: Reference<Poet>?
  var themes: [Reference<Theme>] = []
  var others: Set<Reference<Poem>> = []
  var sequel: Reference<Poem>?

  static let mentions = Inverse("mentions", of: \Poem.others)
  static let prequel = Inverse("prequel", of: \Poem.sequel)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    // Stored by another name.
    Field(name: "title", type: .string, property: "name", indexed: true)
    Field(name: "year", type: .integer)
    Field(name: "price", type: .double, optional: true, indexed: true)
    Field(name: "poet", type: .reference(to: Poet.self))
    Field(name: "finder", type: .reference(to: Poet.self), optional: true)
    Field(name: "themes", type: .references(to: Theme.self))
    Field(name: "others", type: .references(to: Poem.self))
    Field(name: "sequel", type: .reference(to: Poem.self), optional: true, unique: true)
    mentions
    prequel
  }
}

extension StoreModel {
  static let library = StoreModel(records: [
    Region.self, Poet.self, Theme.self, Poem.self,
  ])
}

/// Random records of a library.
struct LibraryChoices {
  var random: SplitMix64

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  mutating func number(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }
  mutating func chance(_ count: Int) -> Bool { number(count) == 0 }
  mutating func one<Value>(of values: [Value]) -> Value { values[number(values.count)] }

  mutating func text() -> String {
    one(of: ["", "a", "ab", "b", "ba", "e\u{301}", "\u{e9}", "z"])
  }

  mutating func price() -> Double? {
    one(of: [nil, -1.5, 0, 0.5, 1, 2, 2.5, 3, .infinity])
  }

  static let poetIDs =
    ["", "a", "a\u{0}", "e\u{301}", "\u{e9}", "k"]
    + [String(repeating: "long", count: 256), String(repeating: "long", count: 255) + "lone"]

  mutating func region(_ id: Int) -> Region {
    Region(id: id, name: text(), rank: one(of: [nil, .nan, 0, 1, 2, 3]))
  }

  mutating func poet(_ id: String) -> Poet {
    Poet(
      id: id, name: text(), born: chance(3) ? nil : number(4),
      region: chance(3) ? nil : Reference(number(4)))
  }

  mutating func poem(_ id: Int, of count: Int) -> Poem {
    var poem = Poem(
      id: id, name: text(), year: number(4), price: price(),
      poet: Reference(one(of: Self.poetIDs)))
    if chance(2) { poem.finder = Reference(chance(4) ? "nobody" : one(of: Self.poetIDs)) }
    for theme in 0..<4 as Range<Int64> where chance(3) { poem.themes.append(Reference(theme)) }
    for _ in 0..<3 where chance(2) { poem.others.insert(Reference(number(count))) }
    if chance(3) { poem.sequel = Reference((id + 1) % count) }
    return poem
  }

  /// Writes a library of `count` poems.
  mutating func fill(_ count: Int, _ transaction: inout WriteTransaction) throws {
    for id in 0..<4 { try transaction.save(region(id)) }
    for id in Self.poetIDs { try transaction.save(poet(id)) }
    for id in 0..<4 as Range<Int64> { try transaction.save(Theme(id: id, text: text())) }
    for id in 0..<count { try transaction.save(poem(id, of: count)) }
  }

  /// Changes a record or two.
  mutating func change(_ count: Int, _ transaction: inout WriteTransaction) throws {
    for _ in 0...number(2) {
      switch number(6) {
      case 0: try transaction.save(region(number(4)))
      case 1: try transaction.save(poet(one(of: Self.poetIDs)))
      case 2: try transaction.save(Theme(id: Int64(number(4)), text: text()))
      default:
        if chance(4) {
          try transaction.delete(Poem.self, key: number(count))
        } else {
          var poem = poem(number(count), of: count)
          // What is deleted may have been meant.
          poem.others = try poem.others.filter { try transaction.fetch($0) != nil }
          if let sequel = poem.sequel, try transaction.fetch(sequel) == nil { poem.sequel = nil }
          try transaction.save(poem)
        }
      }
    }
  }
}
