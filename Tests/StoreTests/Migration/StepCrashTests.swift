import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes, or calls fail, in the middle of steps that programs have written: hooks, closures, new keys.
@Suite struct StepCrashTests {
  private static let count = 40

  private static let steps = [
    MigrationStep(to: 2) {
      RunBefore { transaction in _ = try transaction.delete(record: "Thing", key: 5) }
      TransformRecords("Thing", into: "Thing", "Tag") { old, emit in
        try emit(
          DynamicRecord("Thing", ["code": old["code"], "size": old["size"]]))
        try emit.upsert(
          DynamicRecord("Tag", ["name": old["tag"], "count": 1])
        ) { existing, _ in
          var merged = existing
          merged["count"] = .integer(try existing["count", as: Int64.self] + 1)
          return merged
        }
      }
    },
    MigrationStep(to: 3) {
      UpdateRecord("Thing") {
        UpdateField("size", by: { old in try old.as(Int.self).map { "\($0)" } })
      }
      RunAfter { transaction in
        try transaction.save(DynamicRecord("Tag", ["name": "last", "count": 0]))
      }
      CheckRecords("all are there") { snapshot in
        guard try snapshot.count(record: "Thing") == count - 1 else {
          throw StoreError.unknownRecord(name: "Thing")
        }
      }
    },
  ]

  private static func model(_ version: Int) -> StoreModel {
    version == 1
      ? StoreModel(version: 1, records: [CrashThing1.self])
      : StoreModel(version: 3, records: [CrashThing3.self, CrashTag.self])
  }

  private typealias Opened = (backend: EngineBackend, types: Entities)

  private static func open(
    _ medium: SimulatedFileSystem, _ version: Int, _ mode: MigrationMode = .automatic, seed: UInt64
  ) throws -> Opened {
    let backend = try EngineBackend.simulated(on: medium, seed: seed)
    let model = model(version)
    var options = StoreOptions()
    options.migration.sliceCount = 9
    let opening = try StoreOpening(model, steps: version == 1 ? [] : steps, mode, options)
    return (backend, try opening.entities(of: backend))
  }

  private static func made() throws -> SimulatedFileSystem {
    let medium = SimulatedFileSystem()
    let (backend, types) = try open(medium, 1, seed: 1)
    let type = try types.type(CrashThing1.self)
    let (row, key) = (RowWriter(), KeyEncoder())
    try backend.commit { trees throws(StoreError) in
      let writer = RecordWriter(trees, types)
      for number in 0..<count {
        try type.encode(CrashThing1(number), to: row, key: key)
        try writer.write(key.key, row.row, of: type, presence: .isNew, onConflict: .refuse)
      }
    }
    try backend.close()
    return medium
  }

  /// What an image must be: for a program of each version.
  private static func violation(in medium: SimulatedFileSystem, _ policy: CrashPolicy) -> String? {
    do {
      do {
        let old = try open(medium.crashed(policy), 1, .refuse, seed: 5)
        let found = StoreSnapshot(old.types, try old.backend.snapshot())
        try agree(
          try found.fetch(CrashThing1.self) == (0..<count).map { CrashThing1($0) },
          "version 1 has other records")
        let faults = try found.check()
        try agree(faults.isEmpty, "version 1: \(faults)")
      } catch StoreError.newerSchema(found: 3, supported: 1) {}
      let opened = try open(medium.crashed(policy), 3, seed: 6)
      let found = StoreSnapshot(opened.types, try opened.backend.snapshot())
      let left = (0..<count).filter { $0 != 5 }
      try agree(
        try found.fetch(CrashThing3.self)
          == left.map { CrashThing3(code: CrashThing1($0).code, size: "\($0)") }
          .sorted { $0.code < $1.code }, "version 3 has other things")
      var tags = ["last": 0]
      for number in left { tags[CrashThing1(number).tag, default: 0] += 1 }
      try agree(
        try found.fetch(CrashTag.self)
          == tags.sorted { $0.key < $1.key }.map { CrashTag(name: $0.key, count: $0.value) },
        "version 3 has other tags")
      let faults = try found.check()
      try agree(faults.isEmpty, "version 3: \(faults)")
      let names = opened.backend.engine.working.base.file.footer.trees.map(\.name)
      try agree(!names.contains { $0.hasPrefix("m.") || $0 == MigrationMark.treeName }, "\(names)")
      let pages = opened.backend.engine.working.base.file.check(sizes: .forLongKeys)
      try agree(pages.isEmpty, "\(pages)")
    } catch {
      return "\(error)"
    }
    return nil
  }

  @Test func `a crash before any call of given steps leaves one version or the other, L7 L8 P5 X1`()
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
    _ = try Self.open(medium, 3, seed: 2)
    medium.beforeEachCall(nil)
    for violation in violations.prefix(5) { Issue.record("\(violation)") }
    #expect(count > scaled(200, debug: 20), "\(count)")
    print("given steps: \(count.grouped) crash images, \(violations.count) violations")
  }

  /// Crashed in the middle and opened anew, it crashes again at each call of what is left.
  @Test func `a crash in a resumed migration leaves one version or the other, X2`() throws {
    let first = try Self.made()
    var images: [SimulatedFileSystem] = []
    first.beforeEachCall { call in
      if call % scaled(7, debug: 31) == 0 {
        images.append(first.crashed(CrashPolicy.some(1, pending: first.pendingCount, seed: 3)[0]))
      }
    }
    _ = try Self.open(first, 3, seed: 2)
    first.beforeEachCall(nil)
    var count = 0
    for (number, medium) in images.enumerated() {
      var violations: [String] = []
      medium.beforeEachCall { call in
        guard call % scaled(5, debug: 17) == 0 else { return }
        for policy in CrashPolicy.some(1, pending: medium.pendingCount, seed: UInt64(call)) {
          count += 1
          if let violation = Self.violation(in: medium, policy) {
            violations.append("image \(number), call \(call), \(policy): \(violation)")
          }
        }
      }
      _ = try Self.open(medium, 3, seed: 4)
      medium.beforeEachCall(nil)
      for violation in violations.prefix(3) { Issue.record("\(violation)") }
    }
    #expect(count > scaled(100, debug: 5))
    print("given steps: \(count.grouped) second crash images")
  }

  @Test func `a call that fails, or a full disk, leaves one version or the other, X4`() throws {
    let whole = try Self.made()
    let start = whole.callCount
    _ = try Self.open(whole, 3, seed: 2)
    var count = 0
    for call in stride(from: start, to: whole.callCount, by: scaled(1, debug: 17)) {
      for fault in [Fault.error(.ioError), .error(.noSpace)] {
        let medium = try Self.made()
        guard fault.applies(to: whole.calls[call].operation) else { continue }
        medium.inject(fault, at: .call(call), .once)
        count += 1
        do {
          _ = try Self.open(medium, 3, seed: 2)
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
    print("given steps: \(count.grouped) failed calls")
  }
}

private struct CrashThing1: Record, Equatable {
  var id: Int
  var code: String
  var tag: String
  var size: Int

  init(_ number: Int) {
    id = number
    code = "c\(number * 7 % 100)"
    tag = "t\(number % 4)"
    size = number
  }

  static func recordDescription(for version: Int) -> RecordDescription { crashThing(version) }
}

private struct CrashThing3: Record, Equatable {
  var code: String
  var size: String
  static func recordDescription(for version: Int) -> RecordDescription { crashThing(version) }
}

private struct CrashTag: Record, Equatable {
  var name: String
  var count: Int

  @RecordDescription.ResultBuilder
  static func recordDescription(for version: Int) -> RecordDescription {
    if version > 1 {
      RecordName("Tag")
      Field(primaryKey: true, name: "name", type: .string)
      Field(name: "count", type: .integer, indexed: true)
    }
  }
}

/// Its key is another from version 2 on.
@RecordDescription.ResultBuilder
private func crashThing(_ version: Int) -> RecordDescription {
  RecordName("Thing")
  if version == 1 {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "tag", type: .string, indexed: true)
  }
  Field(primaryKey: version > 1, name: "code", type: .string, unique: version == 1)
  Field(name: "size", type: version < 3 ? .integer : .string, indexed: version > 1)
}
