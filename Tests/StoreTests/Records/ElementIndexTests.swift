import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record with arrays that are indexed by their elements.
private struct Slide: Record, Equatable {
  var id: Int
  var labels: [String]?
  var day = 0
  var serials: [Int] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "labels", type: .array(of: .string), optional: true)
    Field(name: "day", type: .integer)
    Field(name: "serials", type: .array(of: .integer))
    Index(.elements("labels"), "day", named: "labels")
    Unique(.elements("serials"), named: "serials")
  }
}

@Suite struct ElementIndexTests {
  private func withSlides(_ body: (PersistentStore) throws -> Void) throws {
    try withStore(StoreModel(records: [Slide.self]), StoreOptions()) { try body($0) }
  }

  @Test func `a record has an entry for each different element, and none for none`() throws {
    try withSlides { store in
      func count() throws -> Int { try store.entryCount(of: "labels", Slide.self) }
      try store.save(Slide(id: 1, labels: ["a", "b", "a", ""]))
      #expect(try count() == 3)
      try store.save(Slide(id: 2, labels: []))
      try store.save(Slide(id: 3, labels: nil))
      #expect(try count() == 3)
      try store.save(Slide(id: 1, labels: ["b", "c"]))
      #expect(try count() == 2)
      #expect(try store.fetch(Slide.where { $0.labels.contains("c") }).map(\.id) == [1])
      #expect(try store.count(Slide.where { $0.labels.contains("a") }) == 0)
      try store.save(Slide(id: 1, labels: ["b", "c"], day: 5))
      #expect(try count() == 2)
      #expect(
        try store.fetch(Slide.where { $0.labels.contains("b") && $0.day > 4 }).map(\.id) == [1])
      try store.save(Slide(id: 1, labels: nil))
      #expect(try count() == 0)
      try store.save(Slide(id: 1, labels: ["z"]))
      try store.delete(Slide.self, key: 1)
      #expect(try count() == 0)
    }
  }

  @Test func `an element that stays is not written again`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Slide.self]))
    let labels = (0..<100).map { "label \($0)" }
    try store.save(Slide(id: 1, labels: labels))
    try store.write { transaction in
      let index = try #require(
        try store.entities.type(Slide.self).indexes.first { $0.layout.schema.name == "labels" })
      let writer = transaction.elementWriter
      // Were it written, it would be there again.
      let access = TreeAccess.transaction(writer.trees)
      let cursor = try access.cursor(in: index.slot)
      #expect(try cursor.first())
      let key = cursor.key.array()
      _ = try writer.trees.remove(key.rawSpan, in: index.slot)
      try transaction.save(Slide(id: 1, labels: labels.reversed() + ["new"]))
      let isThere = try access.contains(key.rawSpan, in: index.slot)
      #expect(!isThere)
      #expect(try access.count(in: index.slot) == 100)
      try transaction.save(Slide(id: 1, labels: labels, day: 1))
      #expect(try access.count(in: index.slot) == 100)
    }
    try store.expectSound()
  }

  @Test func `every short array becomes every other, and the index agrees`() throws {
    let letters = ["a", "b", "c"]
    var arrays: [[String]] = [[]]
    for length in 1...3 {
      arrays += arrays.filter { $0.count == length - 1 }.flatMap { array in
        letters.map { array + [$0] }
      }
    }
    try withSlides { store in
      try store.write { transaction in
        let index = try #require(
          try store.entities.type(Slide.self).indexes.first { $0.layout.schema.name == "labels" })
        let trees = transaction.elementWriter.trees
        for old in arrays {
          for new in arrays {
            try transaction.save(
              Slide(id: 1, labels: old, serials: old.map { Int($0.utf8.first ?? 0) }))
            try transaction.save(
              Slide(id: 1, labels: new, serials: new.map { Int($0.utf8.first ?? 0) }))
            #expect(try trees.count(in: index.slot) == Set(new).count, "\(old) to \(new)")
            for letter in letters {
              let count = try transaction.count(Slide.where { $0.labels.contains(letter) })
              #expect(count == (new.contains(letter) ? 1 : 0), "\(letter), \(old) to \(new)")
            }
          }
        }
      }
    }
  }

  @Test func `ten thousand elements of one record are written, changed and deleted`() throws {
    try withSlides { store in
      let count = 10_000
      let labels = (0..<count).map { "label \($0 * 7_919 % count)" }
      var photo = Slide(id: 1, labels: labels + labels, serials: Array(0..<count))
      try store.save(photo)
      #expect(try store.entryCount(of: "labels", Slide.self) == count)
      for number in 0..<scaled(100, debug: 5) {
        photo.labels?[count + number] = "new \(number)"
        photo.labels?[number] = "new \(number)"
        photo.serials[number] = -number
        try store.save(photo)
      }
      #expect(try store.count(Slide.where { $0.labels.contains("new 4") }) == 1)
      #expect(try store.count(Slide.where { $0.labels.contains(labels[4]) }) == 0)
      #expect(try store.fetch(Slide.where { $0.serials.contains(9_999) }) == [photo])
      try store.delete(photo)
      #expect(try store.entryCount(of: "labels", Slide.self) == 0)
      #expect(try store.entryCount(of: "serials", Slide.self) == 0)
    }
  }

  @Test func `long elements that begin the same are told apart, and found once`() throws {
    try withSlides { store in
      let long = String(repeating: "x", count: 2_000)
      for length in 990...1_030 {
        let text = String(repeating: "y", count: length)
        try store.save(Slide(id: length, labels: [text, text + "a", text + "b"]))
      }
      try store.save(Slide(id: 1, labels: [long + "1", long + "2", long + "3", long + "2"]))
      try store.save(Slide(id: 2, labels: [long + "2"], day: -1))
      #expect(try store.entryCount(of: "labels", Slide.self) == 41 * 3 + 4)
      for (label, ids) in [("1", [1]), ("2", [1, 2]), ("4", []), ("", [])] {
        let query = Slide.where { $0.labels.contains(long + label) }
        #expect(try store.fetch(query).map(\.id) == ids)
        #expect(try store.count(query) == ids.count)
      }
      let query = Slide.where { $0.labels.contains(long + "2") }.sorted(by: .ascending(\.day))
      #expect(try store.fetch(query).map(\.id) == [2, 1])
      for length in 990...1_030 {
        let text = String(repeating: "y", count: length)
        let expected = [length - 1, length].filter { $0 >= 990 }
        #expect(try store.fetch(Slide.where { $0.labels.contains(text) }).map(\.id) == [length])
        let longer = try store.fetch(Slide.where { $0.labels.contains(text + "a") })
        #expect(longer.map(\.id) == expected.suffix(1))
      }
      try store.save(Slide(id: 1, labels: [long + "3", long + "4"]))
      #expect(try store.fetch(Slide.where { $0.labels.contains(long + "2") }).map(\.id) == [2])
    }
  }

  @Test func `an element of a constraint is in one record, however often`() throws {
    try withSlides { store in
      try store.save(Slide(id: 1, serials: [1, 2, 1]))
      try store.save(Slide(id: 2, serials: []))
      try store.save(Slide(id: 3, serials: []))
      guard
        case .uniqueConflict("Slide", "serials", "1")? = storeError({
          try store.save(Slide(id: 2, serials: [5, 2]))
        })
      else {
        Issue.record("it is not refused")
        return
      }
      #expect(try store.entryCount(of: "serials", Slide.self) == 2)
      try store.save(Slide(id: 1, serials: [2, 3]))
      try store.save(Slide(id: 2, serials: [1, 4]))
      // All others in the way go, each once.
      try store.save(Slide(id: 4, serials: [4, 3, 2, 1]), onConflict: .replaceOther)
      #expect(try store.fetch(Slide.self).map(\.id) == [3, 4])
      try store.write { transaction in
        try transaction.save(Slide(id: 3, serials: [4, 9]), onConflict: .replaceOther)
        try transaction.save(Slide(id: 4, serials: [1]))
      }
      #expect(try store.fetch(Slide.self).map(\.serials) == [[4, 9], [1]])
    }
  }

  @Test func `one record can replace thousands of others`() throws {
    try withSlides { store in
      let count = scaled(20_000, debug: 3_000)
      try store.save(contentsOf: (0..<count).map { Slide(id: $0, serials: [$0]) })
      try store.save(Slide(id: -1, serials: Array(0..<count)), onConflict: .replaceOther)
      #expect(try store.fetch(Slide.self).map(\.id) == [-1])
    }
  }

  @Test func `records are deleted and changed by their elements, each once`() throws {
    try withSlides { store in
      try store.save(
        contentsOf: (0..<60).map { Slide(id: $0, labels: ["a", "l\($0 % 3)"], day: $0 % 5) })
      let both = Slide.where { $0.labels.contains("a") || $0.labels.contains("l1") }
      let changed = try store.update(both) { photo in
        photo.labels?.append("new")
        photo.day += 1
      }
      #expect(changed == 60)
      #expect(try store.fetch(Slide.self).map(\.day) == (0..<60).map { $0 % 5 + 1 })
      try store.write { transaction in
        let first = try transaction.delete(
          Slide.where { $0.labels.contains("l1") && $0.day > 3 })
        let left = try transaction.count(Slide.where { $0.labels.contains("new") })
        let last = try transaction.delete(both)
        #expect([first, left, last] == [8, 52, 52])
      }
      #expect(try store.entryCount(of: "labels", Slide.self) == 0)
    }
  }

  @Test func `pages of an element turn in the order of the part behind it`() throws {
    try withSlides { store in
      let photos = (0..<50).map {
        Slide(id: $0, labels: $0 % 3 == 0 ? ["b"] : ["a", "b"], day: -$0)
      }
      try store.save(contentsOf: photos)
      let query = Slide.where { $0.labels.contains("a") }.sorted(by: .ascending(\.day)).limit(4)
      #expect("\(try store.explain(query))".contains("index labels in one range"))
      #expect(try store.explain(query).sorting == .none)
      var found: [Slide] = []
      while true {
        let page = try store.fetch(query, after: found.last)
        if page.isEmpty { break }
        found += page
      }
      #expect(found == photos.reversed().filter { $0.id % 3 != 0 })
      // One that has not the element can be the place, too.
      let behind = try store.fetch(query, after: photos[30])
      #expect(behind.map(\.id) == [29, 28, 26, 25])
    }
  }

  @Test func `what is no number is in no index of elements, and changes nothing`() throws {
    struct Curve: Record {
      var id: Int
      var points: [Double]
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "points", type: .array(of: .double))
        Index(.elements("points"))
      }
    }
    try withStore(StoreModel(records: [Curve.self])) { store in
      try store.save(Curve(id: 1, points: [0, -0.0, 1]))
      #expect(try store.entryCount(of: "elements(points)", Curve.self) == 2)
      guard
        case .invalidValue("Curve", "points", _)? = storeError({
          try store.save(Curve(id: 1, points: [3, .nan]))
        })
      else {
        Issue.record("it is not refused")
        return
      }
      #expect(try store.count(Curve.where { $0.points.contains(1) }) == 1)
      #expect(try store.count(Curve.where { $0.points.contains(-0.0) }) == 1)
      #expect(try store.count(Curve.where { $0.points.contains(.nan) }) == 0)
    }
  }
}

// MARK: - All types

extension ElementIndexTests {
  @Test(arguments: ScalarType.allCases)
  func `elements of every type are found by every value`(type: ScalarType) throws {
    let model = StoreModel(
      version: 1,
      untyped: [
        RemovedRecord("R") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "list", type: FieldType.array(of: type.fieldType), optional: true)
          Index(.elements("list"))
        }
      ])
    let store = try PersistentStore(inMemory: model.dynamic(version: 1))
    let values = SampleValues.edges(type)
    var random = SplitMix64(seed: UInt64(type.rawValue))
    var lists: [[Int]] = [[], Array(values.indices)]
    for _ in 0..<60 {
      lists.append(
        (0..<Int.random(in: 0...5, using: &random)).map { _ in
          Int.random(in: values.indices, using: &random)
        })
    }
    try store.write { transaction in
      for (id, list) in lists.enumerated() {
        try transaction.save(
          DynamicRecord(
            "R",
            [
              "id": .integer(Int64(id)),
              "list": id % 9 == 8 ? .null : .array(list.map { values[$0] }),
            ]))
      }
    }
    for (place, value) in values.enumerated() {
      let query = FieldQuery(condition: .contains(field: "list", value))
      let expected = lists.indices.filter { $0 % 9 != 8 && lists[$0].contains(place) }
      let record = try store.entities.entity(named: "R")
      let runner = QueryRunner(record, in: try store.snapshot().recordReader())
      let (_, candidates) = try runner.planner().candidates(
        query, for: .records)
      #expect(candidates.count == 2)
      let found = try runner.find(query, forced: 1)
      #expect(runner.text(of: found.plan.access) == "index elements(list) in one range")
      var ids: [Int] = []
      while try found.next() {
        ids.append(Int(found.key.array().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } ^ 1 << 63))
      }
      #expect(ids == expected, "\(value)")
    }
    try store.expectSound()
  }
}

extension ScalarType {
  fileprivate var fieldType: FieldType {
    switch self {
    case .boolean: .boolean
    case .int8: .int8
    case .int16: .int16
    case .int32: .int32
    case .int64: .int64
    case .uint8: .uint8
    case .uint16: .uint16
    case .uint32: .uint32
    case .uint64: .uint64
    case .float: .float
    case .double: .double
    case .date: .date
    case .uuid: .uuid
    case .decimal: .decimal
    case .string: .string
    case .url: .url
    case .binaryData: .binaryData
    }
  }
}

// MARK: - Damage

extension ElementIndexTests {
  private struct Undo: Error {}

  /// The faults of a store's records after a change of the entries of an index.
  private func faults(
    _ store: PersistentStore, _ change: (TransactionTrees, TreeSlot) throws -> Void
  ) throws -> [StoreError] {
    let type = try store.entities.type(Slide.self)
    let index = try #require(type.indexes.first { $0.layout.schema.name == "labels" })
    var faults: [StoreError] = []
    do {
      try store.write { transaction in
        let trees = transaction.elementWriter.trees
        try change(trees, index.slot)
        faults = try RecordCheck.faults(of: [type], in: .transaction(trees))
        throw Undo()
      }
    } catch is Undo {}
    return faults
  }

  @Test func `an entry that is missing, one too many and one of another element are found`() throws
  {
    try withSlides { store in
      try store.save(
        contentsOf: (0..<20).map { Slide(id: $0, labels: (0..<$0 % 4).map { "l\($0)" }) })
      let layout = try store.entities.type(Slide.self).layout
      func key(_ label: String, _ id: Int) throws -> Bytes {
        let key = KeyEncoder()
        let columns = try #require(try layout.indexLayouts().first).parts.columns
        key.begin()
        try key.append(.string(label), columns[0], of: layout)
        try key.append(.integer(0), columns[1], of: layout)
        try key.append(.integer(Int64(id)), layout.key.columns[0], of: layout)
        return key.key.array()
      }
      let sound = try faults(store) { _, _ in }
      #expect(sound == [])
      let (one, missing) = (try key("l1", 7), try key("l3", 7))
      let found = try faults(store) { trees, slot in
        _ = try trees.remove(one.rawSpan, in: slot)
      }
      #expect(found.count == 1 && found[0].breaks(.indexEntries))
      let added = try faults(store) { trees, slot in
        try trees.put(missing.rawSpan, RawSpan(), schemaVersion: 1, in: slot)
      }
      #expect(added.count == 1 && added[0].breaks(.indexEntries))
      let other = try faults(store) { trees, slot in
        _ = try trees.remove(one.rawSpan, in: slot)
        try trees.put(missing.rawSpan, RawSpan(), schemaVersion: 1, in: slot)
      }
      #expect(other.contains { $0.breaks(.indexEntries) })
      let valued = try faults(store) { trees, slot in
        try trees.put(one.rawSpan, [1].rawSpan, schemaVersion: 1, in: slot)
      }
      #expect(valued.contains { $0.breaks(.indexEntries) || $0.breaks(.keyValue) })
    }
  }
}

extension WriteTransaction {
  fileprivate var elementWriter: RecordWriter { writer }
}

// MARK: - Stores as wholes

/// Compaction, backups, salvage and observation of stores with indexes of elements.
@Suite struct ElementStoreTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private let model = StoreModel(records: [Slide.self])

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// 400 records, of which those of even numbers are deleted again, each with six of eleven labels.
  private func store() throws -> PersistentStore {
    let store = try PersistentStore(
      at: path, model: model, options: .withoutAutomaticCompaction)
    try store.save(contentsOf: (0..<400).map(Self.slide))
    try store.backend.fold()
    for id in stride(from: 0, to: 400, by: 2) { try store.delete(Slide.self, key: id) }
    try store.backend.fold()
    return store
  }

  private static func slide(_ id: Int) -> Slide {
    Slide(id: id, labels: (0..<6).map { "label \((id + $0) % 11)" }, serials: [id, id + 1_000])
  }

  /// Compares what is found by elements with the records that are to be there.
  private func expectAll(in store: PersistentStore) throws {
    let slides = stride(from: 1, to: 400, by: 2).map(Self.slide)
    for number in 0..<11 {
      let label = "label \(number)"
      let query = Slide.where { $0.labels.contains(label) }
      let plan = try store.explain(query)
      #expect("\(plan)".contains("labels"), "\(plan)")
      let found = try store.fetch(query).map(\.id).sorted()
      #expect(found == slides.filter { $0.labels?.contains(label) ?? false }.map(\.id))
    }
    let indexed = try store.entryCount(of: "labels", Slide.self)
    #expect(indexed == 6 * slides.count)
    try store.expectSound()
  }

  @Test func `elements are found after a compaction and in a backup`() throws {
    let store = try store()
    try expectAll(in: store)
    let report = try store.compact()
    #expect(report.sizeAfter < report.sizeBefore)
    try expectAll(in: store)
    try store.backUp(to: directory.path + "/copy")
    try store.close()
    let copy = try PersistentStore(at: directory.path + "/copy", model: model)
    try expectAll(in: copy)
    #expect(throws: StoreError.self) { try copy.insert(Slide(id: 900, serials: [1_001])) }
    try copy.close()
  }

  @Test func `elements are found in what was saved of a store without its log`() throws {
    try store().close()
    for number in 0...1 { try FileManager.default.removeItem(atPath: "\(path)/log-\(number)") }
    let report = try PersistentStore.salvage(at: path, to: directory.path + "/copy")
    #expect(report.isWhole)
    let copy = try PersistentStore(at: directory.path + "/copy", model: model)
    try expectAll(in: copy)
    try copy.close()
  }

  @Test func `a query of an element is told when records get it and lose it`() async throws {
    let store = try PersistentStore(inMemory: model)
    try await store.write { try $0.save(contentsOf: (0..<4).map { Slide(id: $0, labels: ["a"]) }) }
    let told = Told(by: try store.results(of: Slide.where { $0.labels.contains("b") }))
    #expect(try #require(try await told.next()).records.isEmpty)
    func save(_ slide: Slide) async throws -> [Int] {
      try await store.write { try $0.save(slide) }
      return try #require(try await told.next()).records.map(\.id)
    }
    #expect(try await save(Slide(id: 2, labels: ["a", "b", "b"])) == [2])
    #expect(try await save(Slide(id: 7, labels: ["b"])) == [2, 7])
    #expect(try await save(Slide(id: 2, labels: ["a"])) == [7])
    try await store.write { _ = try $0.delete(Slide.self, key: 7) }
    #expect(try #require(try await told.next()).records.isEmpty)
    try await store.close()
  }
}

// MARK: - Crashes

/// The power goes before every call while arrays change, so that records and entries are of one commit.
@Suite struct ElementCrashTests {
  private static func photo(_ id: Int, _ number: Int) -> Slide {
    Slide(
      id: id, labels: (number..<number + 12).map { "label \($0 * $0 % 17)" }, day: number % 2,
      serials: (0..<6).map { (id * 6 + $0 + number * 3) % 90 })
  }

  private static func commit(_ number: Int, _ transaction: inout WriteTransaction) throws {
    for id in 0..<(number == 0 ? 10 : 4) {
      try transaction.save(photo(id + number, number), onConflict: .replaceOther)
    }
    if number == 4 { try transaction.delete(Slide.where { $0.labels.contains("label 4") }) }
  }

  private static var sweep: CommitSweep<[Slide]> {
    CommitSweep(
      name: "elements", model: StoreModel(records: [Slide.self]), commitCount: 6, commit: commit
    ) { store in
      let slides = try store.fetch(Slide.self)
      for label in (0..<17).map({ "label \($0)" }) {
        let expected = slides.filter { $0.labels?.contains(label) ?? false }
        try agree(try store.fetch(Slide.where { $0.labels.contains(label) }) == expected, label)
      }
      return slides
    }
  }

  @Test func `crashes before any call leave arrays and entries of one commit, X1, X2`() throws {
    #expect(Set(try Self.sweep.worlds().map(\.count)).count > 3)
    let findings = try Self.sweep.crash(stride: scaled(1, debug: 3))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(100, debug: 30))
  }
}
