import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Rows are asked on their bytes what values would be asked.
@Suite struct RowEvaluationTests {
  private let sample: AnyRecord

  init() throws {
    sample = try AnyRecord()
  }

  @Test func `G2 G4 G17: bytes meet a condition exactly if the values do`() {
    replaying(0..<UInt64(scaled(20_000, debug: 2000))) { seed in
      var random = SplitMix64(seed: seed)
      let stored = try sample.encode(record(&random))
      let read = try RowReader(
        key: stored.key.rawSpan, row: stored.row.rawSpan, layout: sample.layout)
      var values: [String: FieldValue] = [:]
      for (index, column) in sample.layout.columns.enumerated() {
        values[column.field.name] = try read.value(index)
      }
      let known = values
      func value(_ name: String) throws -> FieldValue { known[name] ?? .null }
      for _ in 0..<8 {
        let condition = try ValidCondition(layout: sample.layout, value: value).make(&random)
        let holds = try RowCondition(condition, in: sample.layout).holds(for: read)
        try agree(holds == (try ConditionModel(value: value).holds(condition)), "\(condition)")
      }
    }
  }

  @Test func `G2: every term of every field, and all of them negated`() {
    replaying(0..<UInt64(scaled(2000, debug: 100))) { seed in
      var random = SplitMix64(seed: seed)
      let stored = try sample.encode(record(&random))
      let read = try RowReader(
        key: stored.key.rawSpan, row: stored.row.rawSpan, layout: sample.layout)
      var values: [String: FieldValue] = [:]
      for (index, column) in sample.layout.columns.enumerated() {
        values[column.field.name] = try read.value(index)
      }
      let known = values
      func value(_ name: String) throws -> FieldValue { known[name] ?? .null }
      let conditions = ValidCondition(layout: sample.layout, value: value)
      for column in sample.layout.columns {
        let condition = try conditions.term(column, &random)
        let holds = try RowCondition(condition, in: sample.layout).holds(for: read)
        try agree(holds == (try ConditionModel(value: value).holds(condition)), "\(condition)")
        let fails = try RowCondition(.not(condition), in: sample.layout).holds(for: read)
        try agree(holds != fails, "not \(condition)")
      }
    }
  }

  /// Sometimes with what is not a number.
  private func record(_ random: inout SplitMix64) -> DynamicRecord {
    var record = sample.random(using: &random)
    if random.next() % 8 == 0 { record["double"] = .double(.nan) }
    if random.next() % 8 == 0 { record["float"] = .float(.nan) }
    if random.next() % 8 == 0 { record["decimal"] = .decimal(.nan) }
    return record
  }

  @Test func `what cannot be asked is refused, never followed`() {
    var names = sample.layout.columns.map(\.field.name)
    names.append("other")
    let fields = names
    replaying(0..<UInt64(scaled(20_000, debug: 2000))) { seed in
      var random = SplitMix64(seed: seed)
      let condition = RandomCondition.make(&random, fields: fields)
      let stored = try sample.encode(record(&random))
      let read = try RowReader(
        key: stored.key.rawSpan, row: stored.row.rawSpan, layout: sample.layout)
      do throws(StoreError) {
        _ = try RowCondition(condition, in: sample.layout).holds(for: read)
      } catch {
        guard case .invalidQuery("Item", _, _) = error else { throw error }
      }
    }
  }

  @Test func `a damaged record gives an answer or its fault, X6`() {
    replaying(0..<UInt64(scaled(20_000, debug: 2000))) { seed in
      var random = SplitMix64(seed: seed)
      let stored = try sample.encode(record(&random))
      let values = try RowReader(
        key: stored.key.rawSpan, row: stored.row.rawSpan, layout: sample.layout)
      var known: [String: FieldValue] = [:]
      for (index, column) in sample.layout.columns.enumerated() {
        known[column.field.name] = try values.value(index)
      }
      let whole = known
      let conditions = ValidCondition(layout: sample.layout) { whole[$0] ?? .null }
      var damaged = stored
      Self.damage(&damaged.key, &random)
      Self.damage(&damaged.row, &random)
      do throws(StoreError) {
        let read = try RowReader(
          key: damaged.key.rawSpan, row: damaged.row.rawSpan, layout: sample.layout)
        for _ in 0..<8 {
          guard let condition = try? conditions.make(&random) else { continue }
          let bound = try RowCondition(condition, in: sample.layout)
          do throws(StoreError) {
            _ = try bound.holds(for: read)
          } catch {
            guard case .corrupt = error else { throw error }
          }
        }
      } catch {
        switch error {
        case .corrupt, .newerFormat: break
        default: throw error
        }
      }
    }
  }

  private static func damage(_ bytes: inout Bytes, _ random: inout SplitMix64) {
    switch random.next() % 4 {
    case 0: bytes.removeLast(min(bytes.count, Int(random.next() % 4)))
    case 1: bytes.append(UInt8(truncatingIfNeeded: random.next()))
    default: break
    }
    for _ in 0..<Int(random.next() % 4) where !bytes.isEmpty {
      bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
    }
  }
}
