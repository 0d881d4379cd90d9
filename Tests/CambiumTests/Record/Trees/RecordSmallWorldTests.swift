import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Every short sequence of things done to two records, with the few values in which they can meet.
@Suite struct RecordSmallWorldTests {
  private static let values: [@Sendable (String) -> WrittenRecord] = [
    { WrittenRecord(id: $0, code: "a", tags: ["t", "u", "t"]) },
    { WrittenRecord(id: $0, code: "b", mail: "m", tags: ["u"], marks: [2, 1, 2]) },
    { WrittenRecord(id: $0, code: $0, mail: "m", flag: true, name: "A") },
    {
      WrittenRecord(
        id: $0, group: 1, code: $0, flag: true, name: "a", score: 1, tags: [], marks: [1, 3])
    },
    { WrittenRecord(id: $0, group: 1, code: "b", mail: "n", flag: true, name: "A", score: -1) },
  ]

  private static let operations: [RecordOperation] = {
    var operations: [RecordOperation] = [.deleteAll]
    for id in ["x", "y"] {
      operations.append(.delete(id))
      for (number, value) in values.enumerated() {
        operations.append(.write(value(id), .any, .refuse))
        operations.append(.write(value(id), .any, .replaceOther))
        if number == 0 { operations.append(.write(value(id), .any, .updateOther)) }
        if number == 1 { operations.append(.write(value(id), .isNew, .keepOther)) }
        if number == 2 { operations.append(.write(value(id), .isNew, .refuse)) }
        if number == 3 { operations.append(.write(value(id), .isThere, .replaceOther)) }
      }
    }
    return operations
  }()

  private struct Undo: Error {}

  /// One world: what a sequence of operations has led to, and each that may follow, taken back.
  private final class World {
    let records: WrittenRecords
    let writer: RecordWriter
    let access: TreeAccess
    var count = 0

    init(_ names: TreeNames, _ trees: TransactionTrees) throws {
      records = try WrittenRecords(names)
      writer = RecordWriter(trees, records.entities)
      access = .transaction(trees)
    }

    func explore(_ model: RecordModel, after path: [RecordOperation], depth: Int) throws {
      for operation in operations {
        count += 1
        do {
          try writer.savepoint {
            var next = model
            try records.perform(operation, writer, &next)
            try records.compare(access, next)
            if depth > 1 { try explore(next, after: path + [operation], depth: depth - 1) }
            throw Undo()
          }
        } catch is Undo {
          // As it was before.
        } catch let error as Disagreement where depth == 1 || !error.description.contains("after") {
          throw Disagreement(description: "\(error), after \(path + [operation])")
        }
      }
      try records.compare(access, model)
    }
  }

  @Test(arguments: [false, true])
  func `whatever is done to two records, indexes are in step`(hasBase: Bool) throws {
    let engine = try SimulatedEngine.open(SimulatedFileSystem())
    let depth = scaled(4, debug: 2)
    let base = RecordOperation.write(
      WrittenRecord(id: "x", code: "b", mail: "n", flag: true, name: "a"), .any, .refuse)
    var count = 0
    var model = RecordModel()
    if hasBase {
      // One that was committed before, and is in the trees.
      try engine.write(.durable) { transaction in
        let world = try World(engine.names, TransactionTrees(transaction))
        try world.records.perform(base, world.writer, &model)
      }
      engine.freezeIfPossible()
      while try engine.step() {}
    }
    #expect(throws: Undo.self) {
      try engine.write(.durable) { transaction in
        let world = try World(engine.names, TransactionTrees(transaction))
        defer { count = world.count }
        try world.explore(model, after: [], depth: hasBase ? depth - 1 : depth)
        throw Undo()
      }
    }
    #expect(count >= Self.operations.count)
    print("small worlds of records: \(count.grouped), 0 violations")
  }
}
