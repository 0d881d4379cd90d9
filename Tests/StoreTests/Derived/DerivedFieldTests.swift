import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields that the store computes.
@Suite struct DerivedFieldTests {
  private let model = StoreModel(records: [Writer.self, Novel.self])

  private func totals(
    _ store: PersistentStore, _ id: Int = 1
  ) throws -> Totals? {
    try store.fetch(Writer.self, key: id).map(Totals.init)
  }

  // MARK: Of related records

  @Test(arguments: Change.allCases)
  func `A22: counts, sums and extremes are those of the related records after every change`(
    change: Change
  ) throws {
    try withStore(model) { store in
      try store.write { transaction in
        try transaction.save(Writer(id: 1, name: "One"))
        try transaction.save(Writer(id: 2, name: "Two"))
        for (id, price) in [(1, "1.10"), (2, "2.20"), (3, "3.30")] {
          try transaction.save(Novel(id, of: 1, pages: id * 100, price))
        }
        try transaction.save(Novel(4, of: 2, pages: 400, "4.40"))
      }
      #expect(
        try totals(store) == Totals(3, 600, "6.6", weight: 600, least: 100, most: 300))
      try store.write { try change.run(&$0) }
      #expect(try totals(store) == change.expected.0)
      #expect(try totals(store, 2) == change.expected.1)
    }
  }

  @Test func `what a program saves in a derived field does not count, with a type or without`()
    throws
  {
    try withStore(model) { store in
      var writer = Writer(id: 1, name: "Émile")
      writer.novelCount = 77
      writer.folded = "zzz"
      try store.save(writer)
      try store.save(Novel(1, of: 1, pages: 10, "1"))
      try store.save(writer)
      let stored = try #require(try store.fetch(Writer.self, key: 1))
      #expect(stored.novelCount == 1)
      #expect(stored.folded == "emile")
      try store.write { transaction in
        try transaction.save(
          DynamicRecord(
            "Writer", ["id": 2, "name": "Ann", "novelCount": 9, "rivals": .array([])])
        )
      }
      #expect(try store.fetch(Writer.self, key: 2)?.novelCount == 0)
      #expect(try store.fetch(Writer.where { $0.novelCount == 1 }).map(\.id) == [1])
      #expect(try store.fetch(Writer.where { $0.folded == "ann" }).map(\.id) == [2])
    }
  }

  @Test func `related records may come first, and a record may be related to itself`() throws {
    try withStore(model) { store in
      try store.write { transaction in
        try transaction.save(Novel(1, of: 1, pages: 10, "1"))
        try transaction.save(Writer(id: 1, name: "One", teacher: Reference(1)))
        #expect(try transaction.fetch(Writer.self, key: 1)?.pupilCount == 1)
        try transaction.save(Writer(id: 2, name: "Two", teacher: Reference(1)))
      }
      #expect(try store.fetch(Writer.self, key: 1)?.pupilCount == 2)
      #expect(try totals(store)?.count == 1)
      try store.save(Writer(id: 1, name: "One"))
      #expect(try store.fetch(Writer.self, key: 1)?.pupilCount == 1)
      _ = try store.write { try $0.delete(Writer.self, key: 2) }
      #expect(try store.fetch(Writer.self, key: 1)?.pupilCount == 0)
      try store.write { try $0.deleteAll(Novel.self) }
      #expect(try totals(store) == Totals())
    }
  }

  @Test func `what is undone by a savepoint is undone in derived fields, and seen before`() throws {
    try withStore(model) { store in
      try store.save(Writer(id: 1, name: "One"))
      struct Undo: Error {}
      try store.write { transaction in
        try transaction.save(Novel(1, of: 1, pages: 10, "1"))
        try? transaction.savepoint { transaction in
          try transaction.save(Novel(2, of: 1, pages: 20, "2"))
          #expect(try transaction.fetch(Writer.self, key: 1)?.novelCount == 2)
          throw Undo()
        }
        #expect(try transaction.fetch(Writer.self, key: 1)?.novelCount == 1)
      }
      #expect(try totals(store)?.pages == 10)
    }
  }

  @Test func `a sum that its field cannot hold is refused, and nothing has changed`() throws {
    try withStore(model) { store in
      try store.save(Writer(id: 1, name: "One"))
      try store.save(Novel(1, of: 1, pages: .max, "0.1"))
      let error = storeError { try store.save(Novel(2, of: 1, pages: 1, "1")) }
      guard case .invalidValue("Writer", "pages", let reason)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason == "the sum over Novel.writer of pages of 1 is beyond 64 bits")
      let digits = String(repeating: "9", count: 38)
      #expect(
        storeError { try store.save(Novel(3, of: 1, pages: 0, digits)) }?.description.contains(
          "more digits than a decimal holds") == true)
      #expect(try store.count(Novel.self) == 1)
      #expect(try totals(store)?.count == 1)
    }
  }

  @Test func `sums of doubles do not drift, and what is no number is no extreme`() throws {
    try withStore(model) { store in
      try store.save(Writer(id: 1, name: "One"))
      for (id, weight) in [0.1, 0.2, 0.3, .nan, .infinity].enumerated() {
        try store.save(Novel(id, of: 1, pages: 1, "1", weight: weight))
      }
      #expect(try store.fetch(Writer.self, key: 1)?.weight.isNaN == true)
      #expect(try store.fetch(Writer.self, key: 1)?.lightest == 0.1)
      try store.write { transaction in
        for id in [3, 4, 0, 1] { try transaction.delete(Novel.self, key: id) }
      }
      #expect(try store.fetch(Writer.self, key: 1)?.weight == 0.3)
      #expect(try store.fetch(Writer.self, key: 1)?.lightest == 0.3)
    }
  }

  @Test func `the owner's change is observed and in the history, and runs neither hooks nor rules`()
    throws
  {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    try withStore(StoreModel(records: [Fussy.self, Fly.self]), options) { store in
      try store.save(Fussy(id: 1))
      let start = try store.snapshot().historyCursor
      try store.write { transaction in
        transaction.keepChanges()
        try transaction.insert(Fly(id: 1, on: Reference(1)))
        let update = try #require(try transaction.changes(of: Fussy.self).updated.first)
        #expect(update.changedFields == ["count"])
        #expect(update.old.count == 0 && update.new.count == 1)
      }
      #expect(try store.fetch(Fussy.self, key: 1)?.writes == 1)
      try store.undo(since: start)
      #expect(try store.fetch(Fussy.self, key: 1)?.count == 0)
    }
  }

  // MARK: Of the record itself

  @Test func `strings are derived in other letters`() throws {
    let names: [(String, lower: String, upper: String, folded: String)] = [
      ("Émile ZOLA", "émile zola", "ÉMILE ZOLA", "emile zola"),
      ("Straße", "straße", "STRAßE", "straße"),
      ("e\u{301}A\u{30a}", "e\u{301}a\u{30a}", "E\u{301}A\u{30a}", "ea"),
      ("ΟΔΟΣ Ἄλφα", "οδοσ ἄλφα", "ΟΔΟΣ ἌΛΦΑ", "οδοσ αλφα"), ("Йод", "йод", "ЙОД", "иод"),
      ("が日本語", "が日本語", "が日本語", "が日本語"), ("", "", "", ""),
      ("\u{212b}ngström ǅ", "ångström ǆ", "ÅNGSTRÖM Ǆ", "angstrom ǆ"),
    ]
    try withStore(StoreModel(records: [Letters.self])) { store in
      for (id, name) in names.enumerated() {
        try store.save(Letters(id: id, text: name.0))
        let stored = try #require(try store.fetch(Letters.self, key: id))
        #expect(Array((stored.lower ?? "").utf8) == Array(name.lower.utf8))
        if name.0 != "\u{212b}ngström ǅ" {
          #expect(Array((stored.upper ?? "").utf8) == Array(name.upper.utf8))
        }
        #expect(Array((stored.folded ?? "").utf8) == Array(name.folded.utf8))
      }
      try store.save(Letters(id: 99, text: nil, lower: "x"))
      #expect(try store.fetch(Letters.self, key: 99)?.lower == nil)
    }
  }

  @Test func `letters are mapped as Swift maps them, except where Swift makes several of one`() {
    var several: [DerivationSchema.Kind: Set<UInt32>] = [:]
    for value in UInt32(0)..<0x20000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let mappings: [(DerivationSchema.Kind, String)] = [
        (.lowercased, scalar.properties.lowercaseMapping),
        (.uppercased, scalar.properties.uppercaseMapping),
      ]
      for (kind, swift) in mappings {
        let own = kind.text(of: String(scalar)).unicodeScalars
        // A letter that is newer than Swift's tables is its own.
        let isNewer = own.first?.properties.age == nil
        if isNewer || own.elementsEqual(swift.unicodeScalars) { continue }
        if swift.unicodeScalars.count > 1 {
          several[kind, default: []].insert(value)
        } else {
          Issue.record("\(String(value, radix: 16)) \(kind) becomes \(own), not \(swift)")
        }
      }
    }
    // As Records.md lists them: of Greek letters, those with breathings, accents or an iota.
    #expect(several[.lowercased] == [0x130])
    let ranges: [ClosedRange<UInt32>] = [0x1e96...0x1e9a, 0xfb00...0xfb06, 0xfb13...0xfb17]
    let listed = Set([0xdf, 0x149, 0x1f0, 0x390, 0x3b0, 0x587] + ranges.flatMap { $0 })
    #expect(several[.uppercased]?.filter { !(0x1f00...0x1fff).contains($0) } == listed)
  }

  @Test func `a derived string can be unique, and a conflict is found by it`() throws {
    try withStore(StoreModel(records: [Account.self])) { store in
      try store.save(Account(id: 1, name: "Zoë"))
      let error = storeError { try store.save(Account(id: 2, name: "ZOE")) }
      #expect(
        error
          == .uniqueConflict(record: "Account", constraint: "folded", key: "1"))
      try store.save(Account(id: 3, name: "zoe"), onConflict: .updateOther)
      #expect(try store.fetch(Account.self).map(\.name) == ["zoe"])
      try store.save(Account(id: 4, name: "ZÖE"), onConflict: .replaceOther)
      #expect(try store.fetch(Account.self).map(\.id) == [4])
      try store.write { transaction in
        try transaction.save(Account(id: 5, name: "zoé"), merging: { $0.name = $1.name })
      }
      #expect(try store.fetch(Account.self).map(\.name) == ["zoé"])
    }
  }

  @Test func `the time of a write is that of the record's own, and lists are counted`() throws {
    try withStore(StoreModel(records: [Fussy.self, Fly.self])) { store in
      let before = Date()
      try store.save(Fussy(id: 1, legs: ["a", "b"], changed: .distantPast))
      let first = try #require(try store.fetch(Fussy.self, key: 1))
      #expect(first.changed >= before && first.changed <= Date())
      #expect(first.legCount == 2)
      try store.save(Fly(id: 1, on: Reference(1)))
      #expect(try store.fetch(Fussy.self, key: 1)?.changed == first.changed)
      try store.save(first)
      #expect(try #require(try store.fetch(Fussy.self, key: 1)).changed >= first.changed)
    }
  }
}

// MARK: - Records

extension DerivedFieldTests {
  fileprivate struct Writer: Record, Identifiable {
    var id: Int
    var name: String
    var teacher: Reference<Writer>?
    var rivals: [Reference<Writer>] = []
    var novelCount = 0
    var pages = 0
    var earnings = Decimal(0)
    var weight = 0.0
    var lightest: Double?
    var least: Int?
    var most: Int?
    var pupilCount = 0
    var rivalCount = 0
    var folded = ""

    static let novels = Inverse("novels", of: \Novel.writer)
    static let pupils = Inverse("pupils", of: \Writer.teacher)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "teacher", type: .reference(to: Writer.self), optional: true)
      Field(name: "rivals", type: .references(to: Writer.self))
      Field(name: "novelCount", type: .integer, indexed: true, derived: .count(of: "novels"))
      Field(name: "pages", type: .integer, derived: .sum(of: "novels", "pages"))
      Field(name: "earnings", type: .decimal, derived: .sum(of: "novels", "price"))
      Field(name: "weight", type: .double, derived: .sum(of: "novels", "weight"))
      Field(
        name: "lightest", type: .double, optional: true, derived: .minimum(of: "novels", "weight"))
      Field(name: "least", type: .integer, optional: true, derived: .minimum(of: "novels", "pages"))
      Field(name: "most", type: .integer, optional: true, derived: .maximum(of: "novels", "pages"))
      Field(name: "pupilCount", type: .integer, derived: .count(of: "pupils"))
      Field(name: "rivalCount", type: .integer, derived: .count(of: "rivals"))
      Field(name: "folded", type: .string, indexed: true, derived: .folded("name"))
      novels
      pupils
    }
  }

  fileprivate struct Novel: Record, Identifiable {
    var id: Int
    var writer: Reference<Writer>?
    var pages: Int?
    var price: Decimal
    var weight: Double

    init(_ id: Int, of writer: Int?, pages: Int?, _ price: String, weight: Double? = nil) {
      self.id = id
      self.writer = writer.map { Reference($0) }
      self.pages = pages
      self.price = Decimal(string: price) ?? 0
      self.weight = weight ?? Double(pages ?? 0)
    }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "writer", type: .reference(to: Writer.self), optional: true)
      Field(name: "pages", type: .integer, optional: true)
      Field(name: "price", type: .decimal)
      Field(name: "weight", type: .double)
    }
  }

  /// A record whose hooks count, and whose rules nothing meets twice.
  fileprivate struct Fussy: Record, Identifiable {
    var id: Int
    var writes = 0
    var count = 0
    var legs: [String] = []
    var legCount = 0
    var changed = Date.distantPast

    static let flies = Inverse("flies", of: \Fly.on, deleteRule: .cascade)

    static var hooks: RecordHooks<Fussy> {
      RecordHooks(
        beforeInsert: { record, _ in record.writes += 1 },
        beforeUpdate: { record, _, _ in record.writes += 1 })
    }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "writes", type: .integer)
      Field(name: "count", type: .integer, derived: .count(of: "flies"))
      Field(name: "legs", type: .array(of: .string))
      Field(name: "legCount", type: .integer, derived: .count(of: "legs"))
      Field(name: "changed", type: .date, derived: .modificationDate)
      Validation("it has no flies yet") { (record: Fussy) in record.count == 0 }
      flies
    }
  }

  fileprivate struct Fly: Record, Identifiable {
    var id: Int
    var on: Reference<Fussy>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "on", type: .reference(to: Fussy.self))
    }
  }

  fileprivate struct Letters: Record {
    var id: Int
    var text: String?
    var lower: String?
    var upper: String?
    var folded: String?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "text", type: .string, optional: true)
      Field(name: "lower", type: .string, optional: true, derived: .lowercased("text"))
      Field(name: "upper", type: .string, optional: true, derived: .uppercased("text"))
      Field(name: "folded", type: .string, optional: true, derived: .folded("text"))
    }
  }

  fileprivate struct Account: Record {
    var id: Int
    var name: String
    var folded = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "folded", type: .string, unique: true, derived: .folded("name"))
    }
  }

  fileprivate struct Totals: Equatable {
    var count = 0
    var pages = 0
    var earnings = Decimal(0)
    var weight = 0.0
    var least: Int?
    var most: Int?

    init() {}

    init(_ writer: Writer) {
      (count, pages, earnings) = (writer.novelCount, writer.pages, writer.earnings)
      (weight, least, most) = (writer.weight, writer.least, writer.most)
    }

    init(_ count: Int, _ pages: Int, _ earnings: String, weight: Double, least: Int?, most: Int?) {
      (self.count, self.pages, self.weight) = (count, pages, weight)
      self.earnings = Decimal(string: earnings) ?? 0
      (self.least, self.most) = (least, most)
    }
  }

  /// A change of novels 1 to 3 of writer 1 or of novel 4 of writer 2, and what the writers have afterwards.
  enum Change: CaseIterable {
    case insert, delete, deleteMost, move, cut, price, noPages, replace, updateWhere, deleteWriter
    case deleteAll

    fileprivate func run(_ transaction: inout WriteTransaction) throws {
      switch self {
      case .insert: try transaction.insert(Novel(5, of: 1, pages: 50, "0.5"))
      case .delete: try transaction.delete(Novel.self, key: 2)
      case .deleteMost: try transaction.delete(Novel.self, key: 3)
      case .move: try transaction.save(Novel(1, of: 2, pages: 100, "1.1"))
      case .cut: try transaction.save(Novel(1, of: nil, pages: 100, "1.1"))
      case .price: try transaction.save(Novel(1, of: 1, pages: 100, "-7"))
      case .noPages: try transaction.save(Novel(1, of: 1, pages: nil, "1.1", weight: 0))
      case .replace: try transaction.save(Novel(3, of: 1, pages: 301, "3.3"))
      case .updateWhere:
        try transaction.update(Novel.where { $0.id < 3 }) { $0.pages = 7 }
      case .deleteWriter: try transaction.delete(Writer.self, key: 1)
      case .deleteAll: try transaction.deleteAll(Novel.self)
      }
    }

    fileprivate var expected: (Totals?, Totals?) {
      let two = Totals(1, 400, "4.4", weight: 400, least: 400, most: 400)
      switch self {
      case .insert: return (Totals(4, 650, "7.1", weight: 650, least: 50, most: 300), two)
      case .delete: return (Totals(2, 400, "4.4", weight: 400, least: 100, most: 300), two)
      case .deleteMost: return (Totals(2, 300, "3.3", weight: 300, least: 100, most: 200), two)
      case .move:
        return (
          Totals(2, 500, "5.5", weight: 500, least: 200, most: 300),
          Totals(2, 500, "5.5", weight: 500, least: 100, most: 400)
        )
      case .cut: return (Totals(2, 500, "5.5", weight: 500, least: 200, most: 300), two)
      case .price: return (Totals(3, 600, "-1.5", weight: 600, least: 100, most: 300), two)
      case .noPages: return (Totals(3, 500, "6.6", weight: 500, least: 200, most: 300), two)
      case .replace: return (Totals(3, 601, "6.6", weight: 601, least: 100, most: 301), two)
      case .updateWhere: return (Totals(3, 314, "6.6", weight: 600, least: 7, most: 300), two)
      case .deleteWriter: return (nil, two)
      case .deleteAll: return (Totals(), Totals())
      }
    }
  }
}
