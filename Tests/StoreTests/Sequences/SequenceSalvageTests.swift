import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// After a salvage a store gives no number again that it has given before, as far as anything says which those are.
@Suite struct SequenceSalvageTests {
  /// Leads to a ticket, and so knows its number.
  private struct Visit: Record, Identifiable {
    var id: Int
    var ticket: Reference<QueueTicket>

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Visit")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "ticket", type: .reference(to: QueueTicket.self))
    }
  }

  private static let model = StoreModel(records: [QueueTicket.self, Bill.self, Visit.self])
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private var copy: String { directory.path + "/copy" }

  /// Makes a store with 600 tickets and 300 bills, of which the last 50 and 20 are deleted.
  init() throws {
    directory = try TemporaryDirectory()
    try change { transaction in
      for index in 0..<600 { try transaction.save(QueueTicket("ticket \(index)")) }
      for index in 0..<300 { try transaction.save(Bill(index)) }
    }
    try change { transaction in
      try transaction.delete(QueueTicket.where { $0.id > 550 })
      try transaction.delete(Bill.where { $0.id >= 280 })
    }
  }

  /// Opens the store for a transaction, and closes it: then all is in its pages.
  private func change(_ body: (inout WriteTransaction) throws -> Void) throws {
    let store = try PersistentStore(at: path, model: Self.model)
    try store.write(body)
    try store.close()
  }

  private func compact() throws {
    let store = try PersistentStore(at: path, model: Self.model)
    try store.compact()
    try store.close()
  }

  // MARK: Damage

  private func change(_ file: String, _ body: (inout Data) -> Void) throws {
    let file = URL(filePath: "\(path)/\(file)")
    var bytes = try Data(contentsOf: file)
    body(&bytes)
    try bytes.write(to: file)
  }

  private func spoil(_ place: PagePosition) throws {
    try change("\(FileName.pages(place.segment))") {
      $0[Int(place.block) * Layout.blockSize + 2000] ^= 4
    }
  }

  private func spoilFooters() throws {
    for file in try SalvageWorld.pageFiles(path) {
      try change(String(file.dropFirst(path.count + 1))) { bytes in
        for block in 1..<bytes.count / Layout.blockSize
        where bytes[block * Layout.blockSize + 8] == PageKind.footer.rawValue {
          bytes[block * Layout.blockSize + 20] ^= 1
        }
      }
    }
  }

  private func removeLogs() throws {
    for log in 0...1 { try FileManager.default.removeItem(atPath: "\(path)/log-\(log)") }
  }

  /// The last leaf of a tree of the present state.
  private func lastLeaf(of tree: String) throws -> PagePosition {
    var options = StoreOptions()
    options.access = .reading
    let file = try ReadingBackend(at: path, options).pages
    let root = try #require(file.footer.trees.first { $0.name == tree }?.root)
    var reference = root.reference
    for level in (0..<root.level).reversed() {
      let page = try file.pages.page(reference, level: level + 1, as: BranchPage.self)
      let node = Node(page.bytes)
      reference = node.child(node.childCount - 1)
    }
    return reference.position
  }

  private func rows(_ record: String) throws -> String {
    let schema = try #require(try PersistentStore.inspect(at: path).schemas.last)
    return Entity.name(ofRows: try #require(schema.record(named: record)).number)
  }

  // MARK: Numbers

  /// Salvages the store, and returns the next numbers of a ticket and of a bill, and the bill's page.
  private func nextNumbers(
    _ extent: SalvageOptions.Extent = .everything
  ) throws -> (ticket: Int, bill: Int?, page: UInt16) {
    var options = SalvageOptions()
    options.extent = extent
    let report = try PersistentStore.salvage(at: path, to: copy, options: options)
    #expect(report.remainingFaults == [])
    let store = try PersistentStore(at: copy, model: Self.model)
    let ticket = try store.write { try $0.insertAndFetch(QueueTicket("next")) }
    // Without gaps means: the next, and no other.
    let gap = storeError { try store.insert(Bill(-2, number: 1_500)) }
    #expect("\(gap.map { "\($0)" } ?? "")".contains("would leave a gap"))
    let bill = try store.write { try $0.insertAndFetch(Bill(-1)) }
    try store.close()
    #expect(try PersistentStore.check(at: copy, .deep).faults == [])
    return (ticket.id, bill.number, bill.page)
  }

  enum Damage: CaseIterable {
    case none, logs, footers, footersAndLogs
  }

  @Test(arguments: Damage.allCases)
  func `numbers of deleted records are not given again`(damage: Damage) throws {
    if [.footers, .footersAndLogs].contains(damage) { try spoilFooters() }
    if [.logs, .footersAndLogs].contains(damage) { try removeLogs() }
    let next = try nextNumbers()
    #expect(next == (601, 1_300, 3_005))
  }

  @Test(arguments: [SalvageOptions.Extent.newestState, .wholeState, .everything])
  func `numbers of a state that is not copied are not given again`(
    extent: SalvageOptions.Extent
  ) throws {
    try change { transaction in
      for index in 0..<7 { try transaction.save(QueueTicket("late \(index)")) }
      try transaction.save(Bill(1_000))
    }
    try spoil(try lastLeaf(of: rows("QueueTicket")))
    let next = try nextNumbers(extent)
    #expect(next == (608, 1_301, 3_015))
  }

  @Test func `without the last numbers, those of records and of references count`() throws {
    try change { transaction in
      try transaction.save(Visit(id: 1, ticket: Reference(550)))
      try transaction.save(Visit(id: 2, ticket: Reference(3)))
    }
    // Without garbage there are no older pages.
    try compact()
    try spoil(try lastLeaf(of: Entities.sequencesName))
    try spoil(try lastLeaf(of: rows("QueueTicket")))
    let next = try nextNumbers()
    #expect(try PersistentStore.snapshot(at: copy).fetch(record: "QueueTicket", key: 549) == nil)
    #expect(next == (551, 1_280, 2_805))
  }

  @Test func `entries that are no last numbers are left out, and named`() throws {
    let store = try PersistentStore(at: path, model: Self.model)
    let slot = store.entities.sequences
    try store.backend.write(.durable) { trees in
      try trees.put([1, 2, 3].rawSpan, [4].rawSpan, in: slot)
    }
    try store.close()
    try removeLogs()
    let report = try PersistentStore.salvage(at: path, to: copy)
    #expect(report.remainingFaults == [])
    #expect(report.faults.contains(SequenceCheck.fault([1, 2, 3])))
  }
}
