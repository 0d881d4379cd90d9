import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Schemas that a file may have, far larger than any that is written: what is done with them takes no longer than their
/// size makes it.
@Suite struct LargeSchemaTests {
  private static let count = 20_000

  enum Shape: CaseIterable {
    case fields, optionalFields, parts, records, indexes, indexParts, terms
  }

  @Test(.timeLimit(.minutes(10)), arguments: Shape.allCases)
  func `a large schema is read in time that is linear in its size`(shape: Shape) throws {
    let schema = Self.schema(shape)
    let bytes = schema.encoded()
    let time = try threadTime {
      let read = try Schema(decoding: bytes.rawSpan, version: 1, path: "here")
      _ = try Entities(read, model: nil, names: TreeNames())
      #expect(read.differences(to: read, by: .number).isEmpty)
    }
    // Each of them compared with each other takes minutes.
    #expect(time < .seconds(8), "\(shape)")
  }

  @Test func `a composite that is in itself is refused, however many there are`() throws {
    let fields = (1...UInt32(Self.count)).map { number in
      FieldSchema(
        number: number, name: "f\(number)", type: .composite, isOptional: true,
        composite: number % UInt32(Self.count) + 1, modifier: nil)
    }
    let record = RecordSchema(
      number: 1, name: "R", fields: fields, primaryKey: [], indexes: [], modifier: nil)
    guard
      case .invalidDescription = storeError({ () throws(StoreError) in
        _ = try RowLayout(record, version: 1)
      })
    else {
      Issue.record("it is not refused")
      return
    }
  }

  // MARK: Making them

  private static func schema(_ shape: Shape) -> Schema {
    let numbers = 2...UInt32(count)
    switch shape {
    case .fields: return schema(of: numbers.map { field($0) })
    case .optionalFields: return schema(of: numbers.map { field($0, isOptional: true) })
    case .parts:
      // Many in one, which has many bits.
      let parts = numbers.dropFirst().map {
        field($0, "c.f\($0)", isOptional: true, composite: 2)
      }
      return schema(of: [field(2, "c", .composite, isOptional: true)] + parts)
    case .records:
      return Schema(version: 1, label: nil, records: (1...UInt32(count)).map { record($0) })
    case .indexes:
      return schema(indexes: numbers.map { index($0, [2]) }, of: [field(2)])
    case .indexParts:
      return schema(indexes: [index(2, Array(numbers))], of: numbers.map { field($0) })
    case .terms:
      let terms = numbers.map { FieldCondition.comparison(field: "f\($0)", .equal, 1) }
      return schema(
        indexes: [index(2, [2], condition: .or(terms))], of: numbers.map { field($0) })
    }
  }

  private static func schema(indexes: [IndexSchema] = [], of fields: [FieldSchema]) -> Schema {
    Schema(version: 1, label: nil, records: [record(1, fields, indexes)])
  }

  private static func record(
    _ number: UInt32, _ fields: [FieldSchema] = [], _ indexes: [IndexSchema] = []
  ) -> RecordSchema {
    RecordSchema(
      number: number, name: "R\(number)", fields: [field(1)] + fields,
      primaryKey: [KeyPart(field: 1, isDescending: false, isCaseInsensitive: false)],
      indexes: indexes, modifier: nil)
  }

  private static func field(
    _ number: UInt32, _ name: String? = nil, _ type: ColumnType = .int64,
    isOptional: Bool = false, composite: UInt32? = nil
  ) -> FieldSchema {
    FieldSchema(
      number: number, name: name ?? "f\(number)", type: type, isOptional: isOptional,
      composite: composite, modifier: nil)
  }

  private static func index(
    _ number: UInt32, _ fields: [UInt32], condition: FieldCondition? = nil
  ) -> IndexSchema {
    IndexSchema(
      number: number, name: "i\(number)",
      parts: fields.map { KeyPart(field: $0, isDescending: false, isCaseInsensitive: false) },
      isUnique: false, condition: condition)
  }
}
