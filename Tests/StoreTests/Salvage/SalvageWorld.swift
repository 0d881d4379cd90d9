import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

struct Clerk: Record, Equatable, Identifiable {
  var id: Int
  var name: String
  var saleCount = 0
  var saleSum = 0

  static let sales = Inverse("sales", of: \Sale.clerk, deleteRule: .deny)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, unique: true)
    Field(name: "saleCount", type: .integer, derived: .count(of: "sales"))
    Field(
      name: "saleSum", type: .integer, indexed: true,
      derived: .sum(of: "sales", value: "id * 2 + 1"))
    sales
  }
}

struct Sale: Record, Equatable, Identifiable {
  var id: Int
  var clerk: Reference<Clerk>
  var text: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "clerk", type: .reference(to: Clerk.self))
    Field(name: "text", type: .string, indexed: true)
  }
}

/// Two types whose keys and rows have the same bytes: only the pages themselves tell them apart.
struct Stamp: Record, Equatable {
  var id: UUID
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "name", type: .string)
  }
}

struct Ticket: Record, Equatable {
  var id: UUID
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "name", type: .string)
  }
}

/// A store of several types and a million of bytes or fewer, what is in it, and where.
struct SalvageWorld {
  static let model = StoreModel(records: [Clerk.self, Sale.self, Stamp.self, Ticket.self])

  let directory: TemporaryDirectory
  let clerks: [Clerk]
  let sales: [Sale]
  let stamps: [Stamp]
  let tickets: [Ticket]

  var path: String { directory.path + "/store" }
  var copy: String { directory.path + "/copy" }

  /// - Parameters:
  ///   - count: The number of sales.
  ///   - segments: The number of page segments.
  init(_ count: Int, segments: Int = 1, seed: UInt64 = 1) throws {
    directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    var random = SplitMix64(seed: seed)
    func id() -> UUID {
      var bytes = (random.next(), random.next())
      return unsafe withUnsafeBytes(of: &bytes) { unsafe UUID(uuid: $0.load(as: uuid_t.self)) }
    }
    let clerkCount = max(2, count / 20)
    sales = (0..<count).map { number in
      Sale(
        id: number, clerk: Reference(number % clerkCount),
        text: "sale \(number) of \(String(repeating: "x", count: number % 90))")
    }
    clerks = (0..<clerkCount).map { number in
      let sales = stride(from: number, to: count, by: clerkCount)
      return Clerk(
        id: number, name: "clerk \(number)",
        saleCount: count / clerkCount + (number < count % clerkCount ? 1 : 0),
        saleSum: sales.map { $0 * 2 + 1 }.reduce(0, +))
    }
    stamps = (0..<count / 2).map { Stamp(id: id(), name: "stamp \($0)") }
    tickets = (0..<count / 2).map { Ticket(id: id(), name: "ticket \($0)") }
    for segment in 0..<segments {
      let store = try PersistentStore(at: path, model: Self.model)
      if segment > 0 { try Self.beginSegment(store) }
      func part<Element>(_ all: [Element]) -> [Element] {
        Array(all[all.count * segment / segments..<all.count * (segment + 1) / segments])
      }
      if segment == 0 { try store.save(contentsOf: clerks) }
      try store.save(contentsOf: part(sales))
      try store.save(contentsOf: part(stamps))
      try store.save(contentsOf: part(tickets))
      try store.close()
    }
  }

  /// Has a store that was just opened, and so has nothing to fold, write its next pages to a file of their own.
  private static func beginSegment(_ store: PersistentStore) throws {
    let engine = try #require(store.backend as? EngineBackend).engine
    engine.appender = engine.appender.successor()
  }

  static func pageFiles(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("pages-") }
      .sorted().map { path + "/" + $0 }
  }

  /// Rewrites the store without garbage.
  func compact() throws {
    let store = try PersistentStore(at: path, model: Self.model)
    try store.compact()
    try store.close()
  }

  func change(_ file: String, _ body: (inout Data) -> Void) throws {
    var bytes = try Data(contentsOf: URL(filePath: file))
    body(&bytes)
    try bytes.write(to: URL(filePath: file))
  }

  /// Flips a bit in the middle of a block.
  func spoil(_ block: PagePosition) throws {
    let name = path + "/\(FileName.pages(block.segment))"
    try change(name) { $0[Int(block.block) * Layout.blockSize + 2000] ^= 4 }
  }
}

// MARK: - Where records are

extension SalvageWorld {
  struct Leaf {
    let record: String
    let position: PagePosition
    let blocks: UInt32
    let keys: [[UInt8]]
  }

  struct Pages {
    var leaves: [Leaf] = []
    var branches: [PagePosition] = []
    var footers: [PagePosition] = []
    var schema: [PagePosition] = []
  }

  /// The pages of the present state, read before anything is damaged.
  func pages() throws -> Pages {
    var options = StoreOptions()
    options.access = .reading
    let backend = try ReadingBackend(at: path, options)
    let file = backend.pages
    let schema = try #require(try StoredSchemas(backend).newest())
    var pages = Pages()
    pages.footers = file.reference.copies.map(\.position)
    for tree in file.footer.trees {
      guard let root = tree.root else { continue }
      let record = schema.records.first { Entity.name(ofRows: $0.number) == tree.name }?.name
      var rest = [(root.reference, root.level)]
      while let (reference, level) = rest.popLast() {
        if level > 0 {
          let page = try file.pages.page(reference, level: level, as: BranchPage.self)
          let node = Node(page.bytes)
          pages.branches.append(reference.position)
          for index in 0..<node.childCount { rest.append((node.child(index), level - 1)) }
          continue
        }
        if tree.name == Schema.treeName { pages.schema.append(reference.position) }
        guard let record else { continue }
        let page = try file.pages.page(reference, level: 0, as: LeafPage.self)
        let node = Node(page.bytes)
        pages.leaves.append(
          Leaf(
            record: record, position: reference.position, blocks: UInt32(reference.blocks),
            keys: (0..<node.count).map { node.key($0) }))
      }
    }
    return pages
  }

  /// The keys of a type's records whose leaves meet a condition.
  static func keys(
    of record: String, _ pages: Pages, where isThere: (Leaf) -> Bool
  ) -> Set<[UInt8]> {
    Set(pages.leaves.filter { $0.record == record && isThere($0) }.flatMap(\.keys))
  }
}

// MARK: - Comparing

extension SalvageWorld {
  /// Salvages the store, and compares the copy.
  ///
  /// - Parameters:
  ///   - exactly: False if leaves that were written anew since may come back as they were.
  ///   - isThere: Whether a leaf of the present state is whole.
  @discardableResult
  func salvageAndVerify(
    _ pages: Pages, schema: SchemaLock? = nil, extent: SalvageOptions.Extent = .everything,
    exactly: Bool = true,
    where isThere: (Leaf) -> Bool = { _ in true },
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> SalvageReport {
    var options = SalvageOptions()
    options.schema = schema
    options.extent = extent
    let report = try PersistentStore.salvage(at: path, to: copy, options: options)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    #expect(report.remainingFaults.isEmpty, "\(report)", sourceLocation: sourceLocation)
    #expect(report.omissions.isEmpty, "\(report.omissions)", sourceLocation: sourceLocation)
    #expect(
      try PersistentStore.check(at: copy, .deep).faults == [], sourceLocation: sourceLocation)
    let store = try PersistentStore(at: copy, model: Self.model)
    defer { try? store.close() }
    let found = (
      try store.fetch(Clerk.self), try store.fetch(Sale.self), try store.fetch(Stamp.self),
      try store.fetch(Ticket.self)
    )
    func expect<Subject: Equatable & Record>(
      _ found: [Subject], _ all: [Subject], of name: String,
      _ key: (Subject) -> any FieldValueConvertible
    ) throws {
      let entity = try store.entities.entity(named: name)
      let encoder = KeyEncoder()
      func bytes(_ record: Subject) throws -> [UInt8] {
        try encoder.encode(primaryKey: [key(record)], of: entity)
        return encoder.key.array()
      }
      let expected = Self.keys(of: name, pages, where: isThere)
      var byKey: [[UInt8]: Subject] = [:]
      for record in all { byKey[try bytes(record)] = record }
      let keys = try Set(found.map(bytes))
      #expect(
        exactly ? keys == expected : keys.isSuperset(of: expected),
        "\(name): \(keys.count) of \(expected.count)",
        sourceLocation: sourceLocation)
      for record in found {
        let original = byKey[try bytes(record)]
        #expect(record == original, sourceLocation: sourceLocation)
      }
      #expect(report.records[name] == keys.count, sourceLocation: sourceLocation)
    }
    // The counts and sums are of what there is.
    let salesOfClerks = Dictionary(grouping: found.1, by: \.clerk)
    let clerks = clerks.map { clerk in
      var clerk = clerk
      let sales = salesOfClerks[Reference(clerk.id)] ?? []
      clerk.saleCount = sales.count
      clerk.saleSum = sales.map { $0.id * 2 + 1 }.reduce(0, +)
      return clerk
    }
    try expect(found.0, clerks, of: "Clerk") { $0.id }
    try expect(found.1, sales, of: "Sale") { $0.id }
    try expect(found.2, stamps, of: "Stamp") { $0.id }
    try expect(found.3, tickets, of: "Ticket") { $0.id }
    // It is a store like any other.
    try store.save(Clerk(id: 1_000_000, name: "new"))
    try store.save(Sale(id: 1_000_000, clerk: Reference(1_000_000), text: "new"))
    #expect(try store.fetch(Sale.where { $0.text == "new" }).count == 1)
    return report
  }

  /// The number of records that a reader finds in spite of damage; 0 if the store does not open.
  func readableCount() -> Int {
    var count = 0
    let skip: (SkippedRecord) -> Void = { _ in }
    guard let snapshot = try? PersistentStore.snapshot(at: path) else { return 0 }
    for record in snapshot.schema.records {
      try? snapshot.forEach(record: record.name, skipping: skip) { _ in count += 1 }
    }
    return count
  }
}
