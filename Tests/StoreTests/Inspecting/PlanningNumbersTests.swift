import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Numbers of a footer by which work is planned: whatever they are, the store opens, and opening it for writing
/// corrects them.
@Suite struct PlanningNumbersTests {
  private struct Item: Record, Equatable {
    var id: Int
    var text: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "text", type: .string, indexed: true)
    }
  }

  enum Fault: CaseIterable {
    case nothingLives, oneByteMore, moreThanThereIs, compactionNowhere

    func apply(to footer: inout Footer) {
      for index in footer.segments.indices {
        switch self {
        case .nothingLives: footer.segments[index].liveBytes = 0
        case .oneByteMore: footer.segments[index].liveBytes += 1
        case .moreThanThereIs: footer.segments[index].liveBytes = .max
        case .compactionNowhere:
          footer.pendingWork = [
            PendingWork(kind: CompactionPlace.kind, cursor: [9, 9, 9], trees: [])
          ]
        }
      }
    }

    var invariant: Invariant { self == .compactionNowhere ? .compactionCursor : .liveBytes }
  }

  private static let model = StoreModel(records: [Item.self])
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private let items = (0..<500).map { Item(id: $0, text: "text \($0)") }

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Makes a footer true that says something else than what is so.
  private func make(_ fault: Fault) throws {
    let store = try PersistentStore(at: path, model: Self.model)
    try store.save(contentsOf: items)
    try store.backend.fold()
    let engine = try store.backend.writingEngine()
    try engine.takeFoldTurnToCompact()
    let base = engine.working.base.file
    var footer = base.footer
    fault.apply(to: &footer)
    let reference = try engine.appender.publish(footer)
    let file = try PageFile(after: base, reference, footer)
    try engine.makeTrue(PublishedFooter(file: file, released: [], appended: [], merged: [])) {
      $0.move(to: $1)
    }
    engine.giveFoldTurn()
    try store.close()
  }

  @Test(arguments: Fault.allCases)
  func `a wrong number refuses nothing, is reported, and is corrected by opening`(
    fault: Fault
  ) throws {
    try make(fault)
    let report = try PersistentStore.check(at: path, .deep)
    #expect(!report.faults.isEmpty)
    #expect(report.faults.allSatisfy { $0.breaks(fault.invariant) }, "\(report)")

    var options = StoreOptions()
    options.access = .reading
    let reader = try PersistentStore(at: path, model: Self.model, options: options)
    #expect(try reader.fetch(Item.self) == items)
    try reader.backUp(to: directory.path + "/copy")
    try reader.close()
    #expect(try PersistentStore.check(at: directory.path + "/copy", .deep).isWhole)
    _ = try PersistentStore.inspect(at: path)

    try PersistentStore(at: path, model: Self.model).close()
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    let store = try PersistentStore(at: path, model: Self.model)
    #expect(try store.fetch(Item.self) == items)
    _ = try store.compact()
    try store.close()
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
  }
}
