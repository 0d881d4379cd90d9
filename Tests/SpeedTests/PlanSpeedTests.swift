import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Without a default for `id`, which the compiler's `init(from:)` would make, from the system's
/// randomness, for each record.
struct EightCoded: Record, Hashable {
  var id: UUID
  var created: Date
  var title: String
  var body: String
  var count: Int
  var weight: Double
  var isDone: Bool
  var note: String?

  init() {
    let value = EightFields()
    id = value.id
    created = value.created
    title = value.title
    body = value.body
    count = value.count
    weight = value.weight
    isDone = value.isDone
    note = value.note
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    EightFields.recordDescription(for: version)
  }
}

/// Bounds are four times the goals, so that only a change that costs much fails, on slow machines too.
@Suite struct PlanSpeedTests {
  private static let count = scaled(200_000, debug: 1000)

  /// Of optimized code; any other has none.
  private static func bound(_ nanoseconds: Int) -> Double {
    Double(scaled(nanoseconds, debug: Int.max))
  }

  @Test func `a record of eight fields becomes a row and comes back`() throws {
    let bounds = (out: Self.bound(200), back: Self.bound(480))
    let plan = try makePlan(EightFields.self)
    let records = (0..<1000).map { _ in EightFields() }
    let row = RowWriter()
    let key = KeyEncoder()
    var size = 0
    let out = try nanoseconds(each: Self.count, atMost: bounds.out) {
      for _ in 0..<Self.count / 1000 {
        try plan.write(records, to: row, key: key) { key, row in
          size &+= key.key.byteCount &+ row.row.byteCount
        }
      }
    }
    print("into row and key: \(out) ns")
    let keyBytes = key.key.array()
    let rowBytes = row.row.array()
    var sum = 0
    let back = try nanoseconds(each: Self.count, atMost: bounds.back) {
      for _ in 0..<Self.count {
        sum &+= try plan.read(EightFields.self, key: keyBytes.rawSpan, row: rowBytes.rawSpan).count
      }
    }
    print("out of them: \(back) ns")
    #expect(sum > 0 && size > 0)
    #expect(out < bounds.out && back < bounds.back)
  }

  @Test func `a record of eight fields encodes and decodes itself`() throws {
    let bounds = (out: Self.bound(3000), back: Self.bound(4500))
    let record = try checkedRecord(EightCoded.self)
    let plan = try CodingPlan(record, layout: try RowLayout(record.schema, version: 1))
    let records = (0..<1000).map { _ in EightCoded() }
    let (row, key) = (RowWriter(), KeyEncoder())
    let out = try nanoseconds(each: Self.count, atMost: bounds.out) {
      for index in 0..<Self.count {
        try plan.write(records[index % 1000], to: row, key: key)
      }
    }
    print("into row and key by encode(to:): \(out) ns")
    let (keyBytes, rowBytes) = (key.key.array(), row.row.array())
    var sum = 0
    let back = try nanoseconds(each: Self.count, atMost: bounds.back) {
      for _ in 0..<Self.count {
        sum &+= try plan.read(EightCoded.self, key: keyBytes.rawSpan, row: rowBytes.rawSpan).count
      }
    }
    print("out of them by init(from:): \(back) ns")
    #expect(sum > 0)
    #expect(out < bounds.out && back < bounds.back)
  }
}
