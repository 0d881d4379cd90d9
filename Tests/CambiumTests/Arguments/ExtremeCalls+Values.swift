import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

extension ExtremeCalls {
  private static func find(_ extremes: Extremes, _ condition: Condition<Photo>) {
    Extremes.attempt { _ = try extremes.store.count(Photo.where(condition)) }
    _ = condition.description
  }

  private static func match(
    _ extremes: Extremes, _ make: (String, TextMatch.Options) -> Condition<Photo>
  ) {
    for text in Extremes.strings {
      find(extremes, make(text, []))
      find(extremes, make(text, TextMatch.Options(rawValue: .max)))
    }
  }

  private static func read<Value: FieldValueConvertible>(_ type: Value.Type) {
    for value in Extremes.values {
      _ = Value(fieldValue: value)
      Extremes.attempt { _ = try value.as(type) }
    }
  }

  static let values: [String: @Sendable (Extremes) throws -> Void] = [
    "Condition.init(_:)": { extremes in
      for condition in Extremes.conditions { find(extremes, Condition<Photo>(condition)) }
    },
    "FieldReference.contains(_:_:)": { extremes in
      match(extremes) { text, options in Fields<Photo>().name.contains(text, options) }
    },
    "FieldReference.equals(_:_:)": { extremes in
      match(extremes) { text, options in Fields<Photo>().name.equals(text, options) }
    },
    "FieldReference.hasPrefix(_:_:)": { extremes in
      match(extremes) { text, options in Fields<Photo>().name.hasPrefix(text, options) }
    },
    "FieldReference.hasSuffix(_:_:)": { extremes in
      match(extremes) { text, options in Fields<Photo>().name.hasSuffix(text, options) }
    },
    "FieldReference.like(_:_:)": { extremes in
      match(extremes) { text, options in Fields<Photo>().name.like(text, options) }
    },
    "FieldReference.matches(_:)": { extremes in
      match(extremes) { text, _ in Fields<Photo>().name.matches(text) }
    },
    "Options.init(rawValue:)": { _ in
      for raw in UInt8.min...UInt8.max { _ = TextMatch.Options(rawValue: raw) }
    },
    "FieldCondition.init(parsing:arguments:)": { extremes in
      for text in Extremes.strings {
        Extremes.attempt { _ = try FieldCondition(parsing: text) }
        Extremes.attempt { _ = try FieldCondition(parsing: "name == ?", arguments: [text]) }
        Extremes.attempt { _ = try FieldCondition(parsing: "name == \(text)") }
      }
      // The expressions and queries that texts have.
      for text in Extremes.strings + ["bucket(id, ?)", "prefix(name, ?)", "hour(id, ?)"] {
        for value in Extremes.values {
          Extremes.attempt {
            let expression = try FieldExpression(parsing: text, arguments: [value])
            _ = try extremes.store.fetch(record: "Photo", sortedBy: [FieldOrder(expression)])
          }
        }
      }
      func ask(_ query: QueryTree<String>) {
        let condition = FieldCondition.isInQuery(field: "id", of: .field("id"), query)
        Extremes.attempt { _ = try extremes.store.fetch(record: "Photo", where: condition) }
        Extremes.attempt { _ = try extremes.store.count(record: "Photo", where: .not(condition)) }
      }
      for text in Extremes.strings { ask(QueryTree(of: text)) }
      for condition in Extremes.conditions { ask(QueryTree(of: "Photo", where: condition)) }
      for value in Extremes.values {
        ask(QueryTree(of: "Photo", after: [value]))
        ask(QueryTree(of: "Photo", sortedBy: [.init(.value(value))], limit: 1))
      }
      for number in Extremes.integers {
        ask(QueryTree(of: "Photo", limit: number))
        ask(QueryTree(of: "Photo", limit: .max, offset: number))
        ask(QueryTree(of: "Photo", limit: number, offset: number))
      }
    },
    "FieldOrder.init(field:isDescending:isCaseInsensitive:collation:)": { extremes in
      for text in Extremes.strings {
        Extremes.attempt {
          _ = try extremes.store.fetch(
            record: "Photo", where: nil,
            sortedBy: [FieldOrder(field: text, isDescending: true, isCaseInsensitive: true)])
        }
        Extremes.attempt {
          _ = try extremes.store.fetch(
            record: "Photo", sortedBy: [FieldOrder(field: text, collation: .german)])
        }
      }
    },
    "FieldValue.init(parsing:)": { _ in
      for text in Extremes.strings { Extremes.attempt { _ = try FieldValue(parsing: text) } }
      for value in Extremes.values {
        Extremes.attempt { _ = try FieldValue(parsing: value.literal) }
      }
    },
    "FieldValue.init(integerLiteral:)": { _ in
      for number in Extremes.integers { _ = FieldValue(integerLiteral: Int64(number)) }
    },
    "FieldValue.init(floatLiteral:)": { _ in
      for number in Extremes.numbers { _ = FieldValue(floatLiteral: number) }
    },
    "FieldValue.init(stringLiteral:)": { _ in
      for text in Extremes.strings { _ = FieldValue(stringLiteral: text) }
    },
    "FieldValue.init(arrayLiteral:)": { _ in _ = FieldValue(arrayLiteral: .null, [[]]) },
    "FieldValueConvertible.init(fieldValue:)": { _ in
      read(Int8.self)
      read(UInt8.self)
      read(UInt64.self)
    },
    "Array.init(fieldValue:)": { _ in read([Int16].self) },
    "Set.init(fieldValue:)": { _ in read(Set<Int16>.self) },
    "Reference.init(fieldValue:)": { _ in read(Reference<Linked>.self) },
    "Blob.init(fieldValue:)": { _ in read(Blob.self) },
    "Bool.init(fieldValue:)": { _ in read(Bool.self) },
    "Data.init(fieldValue:)": { _ in read(Data.self) },
    "Date.init(fieldValue:)": { _ in read(Date.self) },
    "Decimal.init(fieldValue:)": { _ in read(Decimal.self) },
    "Double.init(fieldValue:)": { _ in read(Double.self) },
    "FieldValue.init(fieldValue:)": { _ in read(FieldValue.self) },
    "Float.init(fieldValue:)": { _ in read(Float.self) },
    "Optional.init(fieldValue:)": { _ in read(Int?.self) },
    "String.init(fieldValue:)": { _ in read(String.self) },
    "URL.init(fieldValue:)": { _ in read(URL.self) },
    "UUID.init(fieldValue:)": { _ in read(UUID.self) },
    "DynamicRecord.init(_:_:)": { extremes in
      for text in Extremes.strings {
        extremes.write { try $0.save(DynamicRecord(text, [text: .string(text)])) }
      }
    },
    "RecordFields.init(_:)": { extremes in
      for text in Extremes.strings {
        let fields = RecordFields([text: .string(text)])
        extremes.write { try $0.save(DynamicRecord("Photo", fields)) }
      }
    },
    "RecordFields.init(dictionaryLiteral:)": { _ in
      for text in Extremes.strings {
        for value in Extremes.values {
          let fields: RecordFields = [text: 1, text: value, "other": value]
          #expect(fields.count == (text == "other" ? 1 : 2))
          #expect(fields.description.isEmpty == false)
        }
      }
    },
    "RecordFields.subscript(name:)": { _ in
      var fields = RecordFields()
      for text in Extremes.strings {
        for value in Extremes.values { fields[text] = value }
        fields[text] = nil
        #expect(fields[text] == nil && fields.count == 0)
      }
    },
    "DynamicRecord.subscript(field:)": { _ in
      for text in Extremes.strings { _ = DynamicRecord("", [:])[text] }
    },
    "DynamicRecord.subscript(field:as:)": { _ in
      for text in Extremes.strings {
        Extremes.attempt {
          _ = try DynamicRecord("", [text: .null])[text, as: Int.self]
        }
      }
    },
    "Blob.init(_:)": { _ in _ = try Blob(Data()).data() },
    "JSONCodec.decode(_:from:)": { _ in
      for text in Extremes.strings {
        Extremes.attempt { _ = try JSONCodec().decode([Int].self, from: Array(text.utf8)) }
      }
    },
    "RecordIntegerEnum.init(fieldValue:)": { _ in read(ExtremeNumber.self) },
    "RecordStringEnum.init(fieldValue:)": { _ in read(ExtremeText.self) },
    "SystemErrorCode.init(rawValue:)": { _ in
      for number in [Int32.min, -1, 0, .max] { _ = SystemErrorCode(rawValue: number).description }
    },
  ]
}

private enum ExtremeNumber: Int, RecordIntegerEnum { case one = 1 }
private enum ExtremeText: String, RecordStringEnum { case one }
