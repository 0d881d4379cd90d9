import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record that a source with the same properties is imported as.
private protocol Imported: Record, Equatable {
  var id: Int { get }
  var code: String { get }
  var name: String { get set }

  init(id: Int, code: String, name: String)

  static var codeProperty: PartialKeyPath<Self> { get }
}

private struct Plain: Imported {
  var id: Int
  var code: String
  var name: String

  static var codeProperty: PartialKeyPath<Plain> { \.code }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "code", type: .string, unique: true)
    Field(name: "name", type: .string, indexed: true)
  }
}

private struct Hooked: Imported {
  var id: Int
  var code: String
  var name: String

  static let calls = Mutex(0)

  static var codeProperty: PartialKeyPath<Hooked> { \.code }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "code", type: .string, unique: true)
    Field(name: "name", type: .string)
  }

  static var hooks: RecordHooks<Hooked> {
    RecordHooks(
      beforeInsert: { record, _ in if record.id == 77 { calls.withLock { $0 += 1 } } },
      beforeUpdate: { record, _, _ in if record.id == 77 { calls.withLock { $0 += 1 } } })
  }
}

/// Its names are stored outside of the rows.
private struct Bulky: Imported {
  var id: Int
  var code: String
  var text: Blob
  var name: String {
    get { String(decoding: (try? text.data()) ?? Data(), as: UTF8.self) }
    set { text = Blob(Data(newValue.utf8)) }
  }

  init(id: Int, code: String, name: String) {
    (self.id, self.code, text) = (id, code, Blob(Data(name.utf8)))
  }

  static var codeProperty: PartialKeyPath<Bulky> { \.code }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "code", type: .string, unique: true)
    Field(name: "text", type: .binaryData, storage: .external(threshold: 2))
  }
}

private struct Source: Hashable {
  var id: Int?
  var code = ""
  var name = ""
}

private struct Refusal: Error {}

/// Imports: finding or making records by their identifiers.
@Suite struct ImportTests {
  private static let model = StoreModel(records: [Plain.self, Hooked.self, Bulky.self])

  private func store<Subject: Imported>(_ records: [Subject]) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: Self.model)
    try store.write { try $0.insert(contentsOf: records) }
    return store
  }

  // MARK: The truth table

  /// One source, its record as it is before, and what is to become of both.
  private struct Case: CustomStringConvertible {
    var isStored: Bool
    var isChanged: Bool
    var isDuplicate: Bool
    var isSkipped: Bool
    var isThrowing: Bool
    var byUniqueID: Bool

    static let all = (0..<64).map { bits in
      Case(
        isStored: bits & 1 > 0, isChanged: bits & 2 > 0, isDuplicate: bits & 4 > 0,
        isSkipped: bits & 8 > 0, isThrowing: bits & 16 > 0, byUniqueID: bits & 32 > 0)
    }

    var description: String {
      "stored \(isStored) changed \(isChanged) duplicate \(isDuplicate) skipped \(isSkipped) throwing \(isThrowing) unique \(byUniqueID)"
    }

    var report: ImportReport {
      var report = ImportReport()
      report.duplicates = isDuplicate ? 1 : 0
      // Another source is always new.
      report.inserted = 1
      if isSkipped {
        report.skipped = 1
      } else if !isStored {
        report.inserted = 2
      } else if isChanged {
        report.updated = 1
      } else {
        report.unchanged = 1
      }
      return report
    }
  }

  private func check<Subject: Imported>(_ type: Subject.Type, _ test: Case) throws {
    let old = Subject(id: 1, code: "one", name: "old")
    let other = Subject(id: 9, code: "nine", name: "other")
    let store = try store(test.isStored ? [old] : [])
    var sources = [
      Source(id: 1, code: "one", name: test.isChanged ? "new" : "old"),
      Source(id: 9, code: "nine", name: "other"),
    ]
    if test.isDuplicate { sources.insert(Source(id: 1, code: "one", name: "first"), at: 0) }
    func make(_ source: Source, _ existing: Subject?) throws -> Subject? {
      if source.id == 1 {
        #expect(existing == (test.isStored ? old : nil), "\(test)")
        #expect(source.name != "first", "\(test)")
        if test.isSkipped { return nil }
      } else if test.isThrowing {
        throw Refusal()
      }
      var record = existing ?? Subject(id: source.id ?? 0, code: source.code, name: source.name)
      record.name = source.name
      return record
    }
    func run() throws -> ImportReport {
      test.byUniqueID
        ? try store.importRecords(
          type, from: sources, id: \.code, uniqueID: type.codeProperty, make)
        : try store.importRecords(type, from: sources, id: \.id, make)
    }
    if test.isThrowing {
      #expect(throws: Refusal.self, "\(test)") { try run() }
      #expect(try store.fetch(type) == (test.isStored ? [old] : []), "\(test)")
      return
    }
    #expect(try run() == test.report, "\(test)")
    let new = Subject(id: 1, code: "one", name: test.isChanged ? "new" : "old")
    let left = test.isSkipped ? (test.isStored ? [old] : []) : [new]
    #expect(try store.fetch(type) == left + [other], "\(test)")
    #expect(try store.snapshot().check().isEmpty, "\(test)")
  }

  @Test func `of each source becomes what its record, its duplicates and the closure say`() throws {
    for test in Case.all {
      try check(Plain.self, test)
      try check(Hooked.self, test)
      try check(Bulky.self, test)
    }
  }

  @Test func `a record that stays as it is is not written, and its hooks do not run`() throws {
    let store = try store([Hooked(id: 77, code: "one", name: "old")])
    let place = try store.snapshot().historyCursor
    let before = Hooked.calls.withLock { $0 }
    let report = try store.importRecords(Hooked.self, from: [Source(id: 77)], id: \.id) { $1 }
    #expect(report.unchanged == 1)
    #expect(Hooked.calls.withLock { $0 } == before)
    #expect(try store.snapshot().historyCursor == place)
  }

  // MARK: Against a model

  @Test func `imports leave what a dictionary has after the same`() throws {
    for seed in Seeds.range(scaled(40, debug: 8), shard: 90) {
      var random = SplitMix64(seed: seed)
      let store = try PersistentStore(inMemory: Self.model)
      var world: [Int: Plain] = [:]
      for _ in 0..<8 {
        let sources = (0..<Int.random(in: 0...60, using: &random)).map { _ in
          let id = Int.random(in: 0..<40, using: &random)
          return Source(
            id: id == 39 ? nil : id, code: "code \(id)",
            name: "\(Int.random(in: 0..<4, using: &random))")
        }
        var (expected, report) = (world, ImportReport())
        let byCode = Bool.random(using: &random)
        let choose = Bool.random(using: &random)
        var last: [Int: Source] = [:]
        for source in sources {
          guard let id = source.id else {
            report.skipped += 1
            continue
          }
          if last.updateValue(source, forKey: id) != nil { report.duplicates += 1 }
        }
        if choose {
          if last.removeValue(forKey: 3) != nil { report.skipped += 1 }
          last[100] = Source(id: 100, code: "code 100", name: "added")
        }
        for (id, source) in last {
          let record = Plain(id: id, code: source.code, name: source.name)
          if id % 7 == 0 {
            report.skipped += 1
          } else if let old = expected.updateValue(record, forKey: id) {
            if old == record { report.unchanged += 1 } else { report.updated += 1 }
          } else {
            report.inserted += 1
          }
        }
        func make(_ source: Source, _ existing: Plain?) -> Plain? {
          let id = source.id ?? -1
          #expect(existing == world[id], "seed \(seed)")
          return id % 7 == 0 ? nil : Plain(id: id, code: source.code, name: source.name)
        }
        let added = Source(id: 100, code: "code 100", name: "added")
        func chooseCodes(_ sources: inout [String: Source]) {
          sources["code 3"] = nil
          sources["code 100"] = added
        }
        func chooseIDs(_ sources: inout [Int: Source]) {
          sources[3] = nil
          sources[100] = added
        }
        func code(of source: Source) -> String? { source.id == nil ? nil : source.code }
        let found =
          byCode
          ? try store.importRecords(
            Plain.self, from: sources, id: code, uniqueID: \Plain.code,
            preProcess: choose ? chooseCodes : nil, make)
          : try store.importRecords(
            Plain.self, from: sources, id: \.id, preProcess: choose ? chooseIDs : nil, make)
        #expect(found == report, "seed \(seed)")
        world = expected
        #expect(
          try store.fetch(Plain.self) == world.values.sorted { $0.id < $1.id }, "seed \(seed)")
      }
      #expect(try store.snapshot().check().isEmpty)
    }
  }

  @Test func `many records are found over several chunks, in the order of their sources`() throws {
    let count = 40_000
    let store = try store((0..<count / 2).map { Plain(id: 2 * $0, code: "\(2 * $0)", name: "") })
    var random = SplitMix64(seed: 7)
    let ids = (0..<count).shuffled(using: &random)
    var seen: [Int] = []
    let report = try store.importRecords(Plain.self, from: ids, id: \.self) { id, existing in
      #expect((existing == nil) == (id % 2 == 1))
      seen.append(id)
      return existing ?? Plain(id: id, code: "\(id)", name: "")
    }
    #expect(seen == ids)
    #expect(report.inserted == count / 2 && report.unchanged == count / 2)
    #expect(try store.count(Plain.self) == count)
  }

  @Test func `an import whose writes are sorted is as any other, and is undone as a whole`() throws
  {
    let count = 24_000
    let store = try store((0..<count / 2).map { Plain(id: 2 * $0, code: "\(2 * $0)", name: "old") })
    var random = SplitMix64(seed: 8)
    let ids = (0..<count).shuffled(using: &random)
    func run(
      _ transaction: inout WriteTransaction, refusing: Bool
    ) throws -> ImportReport {
      try transaction.importRecords(Plain.self, from: ids, id: \.self) { id, existing in
        #expect((existing == nil) == (id % 2 == 1))
        if let existing, id % 4 == 0 { return existing }
        let isRefused = refusing && id == ids.last
        return Plain(id: id, code: isRefused ? "0" : "\(id)", name: "new \(id % 10)")
      }
    }
    try store.write { transaction in
      if ids.last.map({ $0 % 4 != 0 }) ?? false {
        #expect(throws: StoreError.self) { try run(&transaction, refusing: true) }
      } else {
        Issue.record("the last one stays as it is")
      }
      #expect(try transaction.count(Plain.self) == count / 2)
      let report = try run(&transaction, refusing: false)
      #expect(report.inserted == count / 2)
      #expect(report.updated == count / 4 && report.unchanged == count / 4)
      #expect(try transaction.count(Plain.where { $0.name == "new 3" }) == count / 10)
      try transaction.save(Plain(id: count, code: "last", name: "old"))
    }
    #expect(try store.count(Plain.self) == count + 1)
    #expect(try store.count(Plain.where { $0.name == "old" }) == count / 4 + 1)
    #expect(try store.snapshot().check().isEmpty)
  }

  @Test
  func
    `an import in a transaction finds what was written in it before, also when that was spilled`()
    throws
  {
    let medium = SimulatedFileSystem()
    let backend = try EngineBackend.simulated(on: medium, transactionBudget: 20_000, seed: 1)
    let opening = try StoreOpening(Self.model, steps: [], .automatic, StoreOptions())
    let store = PersistentStore(try opening.open(backend), StoreOptions())
    try store.write { transaction in
      try transaction.insert(
        contentsOf: (0..<2_000).map { Plain(id: $0, code: "\($0)", name: "old") })
      let report = try transaction.importRecords(Plain.self, from: 1_000..<3_000, id: \.self) {
        id, existing in
        #expect(existing?.name == (id < 2_000 ? "old" : nil))
        return Plain(id: id, code: "\(id)", name: "new")
      }
      #expect(report.inserted == 1_000 && report.updated == 1_000)
    }
    #expect(try store.count(Plain.where { $0.name == "new" }) == 2_000)
    #expect(try store.snapshot().check().isEmpty)
    try store.close()
  }

  // MARK: What is refused

  @Test func `a record may not be given another identifier than its source`() throws {
    let store = try store([Plain(id: 1, code: "one", name: "old")])
    for id in [1, 5] {
      #expect(throws: StoreError.self) {
        try store.importRecords(Plain.self, from: [Source(id: id)], id: \.id) { source, _ in
          Plain(id: 2, code: "two", name: "")
        }
      }
    }
    #expect(throws: StoreError.self) {
      try store.importRecords(
        Plain.self, from: [Source(code: "one")], id: \.code, uniqueID: \.code
      ) { _, existing in
        Plain(id: 2, code: "one", name: "")
      }
    }
    #expect(try store.fetch(Plain.self).map(\.id) == [1])
  }

  @Test func `identifiers are of a unique property of one value, and of its type`() throws {
    let store = try store([Plain]())
    func refused(_ field: String?, _ body: () throws -> Void) {
      do {
        try body()
        Issue.record("it was not refused")
      } catch StoreError.invalidQuery(_, let found, _) {
        #expect(found == field)
      } catch StoreError.invalidValue(_, let found, _) {
        #expect(found == field)
      } catch {
        Issue.record("\(error)")
      }
    }
    refused("name") {
      try store.importRecords(
        Plain.self, from: [Source(name: "x")], id: \.name, uniqueID: \.name
      ) { $1 }
    }
    refused("id") {
      try store.importRecords(Plain.self, from: [Source(name: "x")], id: \.name) { $1 }
    }
    refused("code") {
      try store.importRecords(
        Plain.self, from: [Source(id: 1)], id: \.id, uniqueID: \.code
      ) { $1 }
    }
  }

  @Test func `an import that is refused in the middle leaves nothing, and the transaction goes on`()
    throws
  {
    let store = try store([Plain(id: 1, code: "one", name: "old")])
    try store.write { transaction in
      #expect(throws: StoreError.self) {
        try transaction.importRecords(
          Plain.self, from: [Source(id: 2, code: "two"), Source(id: 3, code: "one")], id: \.id
        ) { source, _ in
          Plain(id: source.id ?? 0, code: source.code, name: "new")
        }
      }
      try transaction.save(Plain(id: 4, code: "four", name: ""))
    }
    #expect(try store.fetch(Plain.self).map(\.id) == [1, 4])
    #expect(try store.snapshot().check().isEmpty)
  }
}

// MARK: - Relations

private struct Person: Record, Identifiable, Equatable {
  var id: Int
  var name: String
  var manager: Reference<Person>?

  static let staff = Inverse("staff", of: \Person.manager)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "manager", type: .reference(to: Person.self), optional: true)
    staff
  }
}

private final class Employee {
  let id: Int
  let name: String
  let manager: Employee?

  init(_ id: Int, _ name: String, _ manager: Employee? = nil) {
    (self.id, self.name, self.manager) = (id, name, manager)
  }
}

/// Imports of records that lead to others.
@Suite struct RelatedImportTests {
  private let store: PersistentStore

  init() throws {
    store = try PersistentStore(inMemory: StoreModel(records: [Person.self]))
  }

  @Test func `references may come before their destinations, and lead somewhere in the end`() throws
  {
    let ids = Array(0..<500)
    func importAll(_ ids: [Int]) throws -> ImportReport {
      try store.importRecords(Person.self, from: ids, id: \.self) { id, _ in
        Person(id: id, name: "\(id)", manager: id == 499 ? nil : Reference(id + 1))
      }
    }
    #expect(throws: StoreError.self) { try importAll(ids.dropLast()) }
    #expect(try store.count(Person.self) == 0)
    #expect(try importAll(ids).inserted == 500)
    #expect(try store.snapshot().check().isEmpty)
  }

  private func importTree(
    _ employees: [Employee], _ transaction: inout WriteTransaction
  ) throws -> ImportReport {
    try transaction.importRecords(Person.self, from: employees, id: \.id) {
      transaction, source, existing in
      if let manager = source.manager { _ = try importTree([manager], &transaction) }
      var person = existing ?? Person(id: source.id, name: source.name)
      person.name = source.name
      person.manager = source.manager.map { Reference($0.id) }
      return person
    }
  }

  @Test func `what a source contains is imported before its own record`() throws {
    try store.save(Person(id: 2, name: "old"))
    let root = Employee(1, "root")
    let middle = Employee(2, "middle", root)
    let leaves = [Employee(3, "three", middle), middle, Employee(4, "four", root), root]
    let report = try store.write { try importTree(leaves, &$0) }
    // Those that were imported with others before are found as they are.
    #expect(report.inserted == 2 && report.unchanged == 2)
    #expect(try store.fetch(Person.self).map(\.name) == ["root", "middle", "three", "four"])
    #expect(try store.fetch(Person.staff(of: Reference(1))).map(\.id) == [2, 4])
  }

  @Test
  func `a record that the closure itself deletes or writes is written as the closure returns it`()
    throws
  {
    try store.write { try $0.insert(contentsOf: (0..<6).map { Person(id: $0, name: "old") }) }
    let report = try store.write { transaction in
      try transaction.importRecords(Person.self, from: 0..<8, id: \.self) {
        transaction, id, existing in
        // Of itself, and of one that comes later.
        try transaction.delete(Person.self, key: id)
        try transaction.save(Person(id: (id + 3) % 8, name: "meanwhile"))
        return Person(id: id, name: existing?.name ?? "none")
      }
    }
    #expect(report.updated + report.inserted == 8)
    let names = try store.fetch(Person.self).map(\.name)
    // The first three were written over by the last ones.
    #expect(names == ["meanwhile", "meanwhile", "meanwhile"] + names[3...])
    #expect(names[3...].allSatisfy { $0 == "meanwhile" })
    #expect(try store.snapshot().check().isEmpty)
  }
}
