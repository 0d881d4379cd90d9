import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes, or calls fail, in the middle of a migration with relations: one version or the other is found, and its
/// references lead somewhere.
@Suite struct RelationMigrationCrashTests {
  private static let authorCount: Int64 = 20
  private static let bookCount: Int64 = 60

  /// Version 2: a list of one, an added list, a plain field that is a checked reference, a reference that a closure makes,
  /// and fields that are derived of them.
  private static let model = StoreModel(
    version: 2,
    untyped: [
      RemovedRecord("Author") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 2 {
          Field(name: "count", type: .integer, indexed: true, derived: .count(of: "books"))
          Field(name: "sum", type: .integer, derived: .sum(of: "books", "id"))
          Field(
            name: "squares", type: .integer, indexed: true,
            derived: .sum(of: "books", value: "id * id"))
          Field(name: "own", type: .integer, derived: .value("id * 10"))
          inverse("books", of: "author", in: "Book")
        }
      },
      RemovedRecord("Book") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 {
          Field(name: "author", type: .reference(to: "Author"), optional: true)
          Field(name: "editor", type: .integer)
        } else {
          Field(name: "author", type: .references(to: "Author"))
          Field(name: "editor", type: .reference(to: "Author"))
          Field(name: "readers", type: .references(to: "Author"))
          Field(name: "first", type: .reference(to: "Author"), optional: true)
        }
      },
    ])

  private static let steps = [
    MigrationStep(to: 2) {
      UpdateRecord("Book") {
        UpdateField("first", from: { old in try old["id", as: Int64.self] / 4 + 1 })
      }
    }
  ]

  private static func author(of book: Int64) -> FieldValue {
    book % 3 == 0 ? .null : .integer(book % authorCount + 1)
  }

  private static let authors: [DynamicRecord] = (1...authorCount).map { .of("Author", $0) }

  private static let newAuthors: [DynamicRecord] = (1...authorCount).map { id in
    let books = (0..<bookCount).filter { author(of: $0) == .integer(id) }
    return .of(
      "Author", id,
      [
        "count": .integer(Int64(books.count)), "sum": .integer(books.reduce(0, +)),
        "squares": .integer(books.map { $0 * $0 }.reduce(0, +)), "own": .integer(id * 10),
      ])
  }

  private static let old: [DynamicRecord] = (0..<bookCount).map { id in
    .of("Book", id, ["author": author(of: id), "editor": .integer(id % 5 + 1)])
  }

  private static let new: [DynamicRecord] = (0..<bookCount).map { id in
    let author = author(of: id)
    return .of(
      "Book", id,
      [
        "author": author == .null ? [] : .array([author]), "editor": .integer(id % 5 + 1),
        "readers": [], "first": .integer(id / 4 + 1),
      ])
  }

  private typealias Opened = (backend: EngineBackend, types: Entities)

  private static func open(
    _ medium: SimulatedFileSystem, _ version: Int, _ mode: MigrationMode = .automatic,
    seed: UInt64
  ) throws -> Opened {
    let backend = try EngineBackend.simulated(on: medium, seed: seed)
    var options = StoreOptions()
    options.migration.sliceCount = 13
    let opening = try StoreOpening(
      model.dynamic(version: version), steps: version == 1 ? [] : steps, mode, options)
    return (backend, try opening.entities(of: backend))
  }

  private static func made() throws -> SimulatedFileSystem {
    let medium = SimulatedFileSystem()
    let (backend, types) = try open(medium, 1, seed: 1)
    let (row, key) = (RowWriter(), KeyEncoder())
    try backend.commit { trees throws(StoreError) in
      let writer = RecordWriter(trees, types)
      for record in authors + old {
        let entity = try types.entity(named: record.name)
        try record.encode(to: row, key: key, layout: entity.layout)
        try writer.write(key.key, row.row, of: entity, presence: .isNew, onConflict: .refuse)
      }
    }
    try backend.close()
    return medium
  }

  /// Why an image is neither of the two versions, for programs of both; nil if it is.
  private static func violation(in medium: SimulatedFileSystem, _ policy: CrashPolicy) -> String? {
    func compare(
      _ opened: Opened, _ books: [DynamicRecord], _ authors: [DynamicRecord], _ version: String
    ) throws {
      let found = StoreSnapshot(opened.types, try opened.backend.snapshot())
      let faults = try found.check()
      try agree(faults.isEmpty, "\(version): \(faults)")
      try agree(
        try found.fetch(record: "Book", where: nil) == books, "\(version) has other books")
      try agree(
        try found.fetch(record: "Author", where: nil) == authors, "\(version) has other authors")
    }
    do {
      do {
        try compare(
          try open(medium.crashed(policy), 1, .refuse, seed: 5), old, authors, "version 1")
      } catch StoreError.newerSchema(found: 2, supported: 1) {}
      let opened = try open(medium.crashed(policy), 2, seed: 6)
      try compare(opened, new, newAuthors, "version 2")
      let names = opened.backend.engine.working.base.file.footer.trees.map(\.name)
      try agree(
        !names.contains { $0.hasPrefix("m.") || $0 == MigrationMark.treeName }, "\(names)")
    } catch {
      return "\(error)"
    }
    return nil
  }

  @Test func `a crash before any call leaves one version or the other, with all its references`()
    throws
  {
    let medium = try Self.made()
    var count = 0
    var violations: [String] = []
    let stride = scaled(1, debug: 9)
    medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      for policy in CrashPolicy.some(3, pending: medium.pendingCount, seed: UInt64(call)) {
        count += 1
        if let violation = Self.violation(in: medium, policy) {
          violations.append("call \(call), \(policy): \(violation)")
        }
      }
    }
    _ = try Self.open(medium, 2, seed: 2)
    medium.beforeEachCall(nil)
    for violation in violations.prefix(5) { Issue.record("\(violation)") }
    #expect(count > scaled(200, debug: 20), "\(count)")
    print("migrated relations: \(count.grouped) crash images, \(violations.count) violations")
  }

  @Test func `a call that fails, or a full disk, leaves one version or the other, X4`() throws {
    let whole = try Self.made()
    let start = whole.callCount
    _ = try Self.open(whole, 2, seed: 2)
    var count = 0
    for call in stride(from: start, to: whole.callCount, by: scaled(1, debug: 17)) {
      for fault in [Fault.error(.ioError), .error(.noSpace)] {
        let medium = try Self.made()
        guard fault.applies(to: whole.calls[call].operation) else { continue }
        medium.inject(fault, at: .call(call), .once)
        count += 1
        do {
          _ = try Self.open(medium, 2, seed: 2)
        } catch let error as StoreError {
          switch error {
          case .io, .full, .poisoned, .outcomeUnknown, .corrupt: break
          default: throw error
          }
        }
        medium.heal()
        if let violation = Self.violation(in: medium, .none) {
          Issue.record("\(fault) at call \(call): \(violation)")
        }
      }
    }
    #expect(count > 0)
    print("migrated relations: \(count.grouped) failed calls")
  }
}
