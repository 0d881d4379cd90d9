import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium

private struct OldCount: Record {
  var id: Int
  var amount: Double
  var text: String
  var mark: Data
  var sizes: [Int32]
  var floats: [Float]
  static func recordDescription(for version: Int) -> RecordDescription {
    Counts.description(version)
  }
}

private struct Mark: Codable, Equatable, Sendable {
  var town: String
  var zip: Int
}

private struct NewCount: Record, Equatable {
  var id: Int
  var amount: Int
  var text: Data
  var mark: Mark
  var sizes: [Int64]
  var floats: [Double]
  static func recordDescription(for version: Int) -> RecordDescription {
    Counts.description(version)
  }
}

private enum Counts {
  @RecordDescription.ResultBuilder
  static func description(_ version: Int) -> RecordDescription {
    RecordName("Count")
    Field(primaryKey: true, name: "id", type: .integer)
    if version < 2 {
      Field(name: "amount", type: .double)
      Field(name: "text", type: .string)
      Field(name: "mark", type: .binaryData)
      Field(name: "sizes", type: .array(of: .int32))
      Field(name: "floats", type: .array(of: .float))
    } else {
      Field(name: "amount", type: .integer)
      Field(name: "text", type: .binaryData, storage: .external())
      Field(
        name: "mark",
        type: .composite {
          Field(name: "town", type: .string)
          Field(name: "zip", type: .integer)
        })
      Field(name: "sizes", type: .array(of: .int64))
      Field(name: "floats", type: .array(of: .double))
    }
  }
}

/// Plans count the records that would be refused, also if a closure makes another of their fields or a type changes.
@Suite struct CountedRefusalTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let new = StoreModel(version: 2, records: [NewCount.self])

  init() throws {
    directory = try TemporaryDirectory()
    let store = try PersistentStore(at: path, model: StoreModel(records: [OldCount.self]))
    try store.write {
      for id in 0..<8 {
        try $0.insert(
          OldCount(
            id: id, amount: id % 2 == 0 ? 2 : 1.5, text: "t\(id)", mark: Data("Rome".utf8),
            sizes: [.min, Int32(id), .max], floats: [-0.0, 0.1]))
      }
    }
    try store.close()
  }

  private static let mark = UpdateField(
    "mark",
    by: { old in
      let town = try old.as(Data.self).map { String(decoding: $0, as: UTF8.self) } ?? ""
      return FieldValue.composite(["town": .string(town), "zip": 7])
    })
  private static let text = UpdateField("text", converting: .refuse)

  private func plan(
    before: RunBefore? = nil, after: RunAfter? = nil, _ fields: UpdateField...
  ) throws -> MigrationPlan {
    let step = MigrationStep(to: 2) {
      if let before { before }
      UpdateRecord("Count") { for field in fields { field } }
      if let after { after }
    }
    return try PersistentStore.migration(at: path, to: Self.new, steps: [step]).plan
  }

  @Test func `a closure for one field does not hide what others refuse`() throws {
    let amount = UpdateField("amount", converting: .refuse)
    for text in [
      Self.text, UpdateField("text", by: { try $0.as(String.self).map { Data($0.utf8) } }),
    ] {
      let faults = try plan(amount, text, Self.mark).faults
      #expect(faults.count == 1)
      #expect(
        faults.first?.description.hasPrefix("Count.amount: 4 of 8 records would be refused") == true
      )
    }
  }

  @Test func `a plan says what it cannot count where the program changes records before a step`()
    throws
  {
    let before = RunBefore { transaction in _ = try transaction.delete(record: "Count", key: 1) }
    let refusing = UpdateField("amount", converting: .refuse)
    let changed = try plan(before: before, refusing, Self.text, Self.mark)
    #expect(changed.faults == [])
    #expect(changed.uncertainties.count == 1)
    let text = "\(try #require(changed.uncertainties.first))"
    #expect(text.hasPrefix("Count.amount: 4 of 8 records would be refused"))
    #expect(text.contains("changes records before the step to version 2"))
    #expect(text.contains("rehearsal"))
    #expect("\(changed)".contains(text))

    let replacing = UpdateField("amount", converting: .replace(0))
    let converted = try plan(before: before, replacing, Self.text, Self.mark)
    #expect(converted.canRun && converted.uncertainties.count == 1)
    #expect("\(converted.uncertainties[0])".contains("none of 8 records would be refused"))
    let unchanged = try plan(replacing, Self.text, Self.mark)
    #expect(unchanged.canRun && unchanged.uncertainties == [])
  }

  @Test func `what a step refuses is counted though the program changes records after it`() throws {
    let after = RunAfter { transaction in _ = try transaction.delete(record: "Count", key: 1) }
    let refusing = UpdateField("amount", converting: .refuse)
    let refused = try plan(after: after, refusing, Self.text, Self.mark)
    #expect(refused.faults.count == 1 && refused.uncertainties == [])
    #expect(!refused.canRun)
  }

  @Test func `a composite that was none is given as a whole, as the first advice says`() throws {
    let amount = UpdateField("amount", converting: .replace(0))
    let faults = try plan(amount, Self.text).faults
    #expect(faults.contains { "\($0)".contains("UpdateField(\"mark\", by: {") })
    let refused = try plan(amount, Self.text, UpdateField("mark", converting: .refuse)).faults
    #expect(refused.contains { "\($0)".contains("UpdateField(\"mark\", by: {") })
    #expect(try plan(amount, Self.text, Self.mark).faults == [])
    let twice = try plan(amount, Self.text, Self.mark, UpdateField("mark.zip", from: { _ in 1 }))
    #expect(twice.faults.count == 1 && "\(twice.faults[0])".hasPrefix("Count.mark.zip"))
  }

  @Test func `what loses nothing converts: wider elements, strings as external data`() throws {
    let step = MigrationStep(to: 2) {
      UpdateRecord("Count") {
        UpdateField("amount", converting: .replace(0))
        Self.text
        Self.mark
      }
    }
    let store = try PersistentStore(at: path, model: Self.new, steps: [step])
    let records = try store.fetch(NewCount.self)
    for (id, record) in records.enumerated() {
      #expect(
        record
          == NewCount(
            id: id, amount: id % 2 == 0 ? 2 : 0, text: Data("t\(id)".utf8),
            mark: Mark(town: "Rome", zip: 7),
            sizes: [Int64(Int32.min), Int64(id), Int64(Int32.max)],
            floats: [-0.0, Double(Float(0.1))]))
      #expect(record.floats.first?.sign == .minus)
    }
    #expect(records.count == 8)
    #expect(try store.snapshot().check() == [])
    try store.close()
  }
}
