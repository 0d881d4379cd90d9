import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Records that `query` writes are the same when they are imported again.
@Suite struct RoundTripTests {
  /// A record with fields of every type, and arrays of each.
  private static let model = StoreModel(
    version: 1,
    untyped: [
      RemovedRecord("Thing") { _ in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "text", type: .string)
        Field(name: "bytes", type: .binaryData)
        for type in ScalarType.allCases {
          Field(name: "\(type)", type: FieldType(type), optional: true)
          Field(name: "\(type)s", type: .array(of: FieldType(type)), optional: true)
        }
        Field(
          name: "place",
          type: .composite {
            Field(name: "x", type: .double)
            Field(name: "city", type: .string, optional: true)
            Field(name: "day", type: .date, optional: true)
          }, optional: true)
        Field(name: "coded", type: .transformable, optional: true)
        Field(name: "letter", type: .string, storage: .external(threshold: 20), optional: true)
        Field(name: "picture", type: .binaryData, storage: .external(threshold: 20), optional: true)
      }
    ])

  private static func make(at path: String, count: Int64) throws {
    var random = SplitMix64(seed: 7)
    let store = try PersistentStore(at: path, model: model)
    try store.write { transaction in
      for id in 0..<count {
        let fields = RecordFields(Self.fields(id, &random))
        try transaction.save(DynamicRecord("Thing", fields))
      }
    }
    try store.close()
  }

  private static func fields(_ id: Int64, _ random: inout SplitMix64) -> [String: FieldValue] {
    var fields: [String: FieldValue] = ["id": .integer(id)]
    fields["text"] = value(.string, &random)
    fields["bytes"] = value(.binaryData, &random)
    for type in ScalarType.allCases {
      if Bool.random(using: &random) { fields["\(type)"] = value(type, &random) }
      var elements: [FieldValue] = []
      for _ in 0..<Int.random(in: 0..<4, using: &random) { elements.append(value(type, &random)) }
      if Bool.random(using: &random) { fields["\(type)s"] = .array(elements) }
    }
    if Bool.random(using: &random) {
      let (x, city) = (value(.double, &random), value(.string, &random))
      fields["place"] = .composite(["x": x, "city": city, "day": value(.date, &random)])
    }
    if Bool.random(using: &random) { fields["coded"] = .data(Data("{\"a\":\(id)}".utf8)) }
    if Bool.random(using: &random) {
      let long = String(repeating: text(&random), count: 10)
      fields["letter"] = .string(long)
      fields["picture"] = .data(Data(long.utf8.reversed()))
    }
    return fields
  }

  private static func value(_ type: ScalarType, _ random: inout SplitMix64) -> FieldValue {
    switch (type, Int.random(in: 0..<8, using: &random)) {
    case (.string, _): return .string(text(&random))
    case (.double, 0): return .double(.nan)
    case (.float, 0): return .float(.nan)
    case (.decimal, 0): return .decimal(.nan)
    case (.date, 1...):
      let seconds = Double.random(in: -6e10..<2.5e11, using: &random)
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    default: return SampleValues.random(type, using: &random)
    }
  }

  private static let pieces = [
    "a", "é", ",", ";", "\"", "\r", "\n", "\r\n", "\t", " ", "\0", "\u{301}", "\u{feff}",
    "\u{2028}", "😀", "[", "{", "\\", "=", "null",
  ]

  private static func text(_ random: inout SplitMix64) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0..<6, using: &random) {
      text += pieces.randomElement(using: &random) ?? ""
    }
    return text
  }

  /// The records in words that say everything but what is in blobs.
  private static func literals(_ path: String) throws -> [String] {
    var records: [String] = []
    try PersistentStore.snapshot(at: path).forEach(record: "Thing") { record in
      let fields = record.fields.sorted { $0.key < $1.key }
      records.append(fields.map { "\($0.key): \(text(of: $0.value))" }.joined(separator: ", "))
    }
    return records
  }

  /// The literal of a value, but dates as numbers, since the command writes their literals.
  private static func text(of value: FieldValue) -> String {
    switch value {
    case .date(let date): return "@\(date.timeIntervalSinceReferenceDate)"
    case .array(let values): return "[\(values.map { text(of: $0) }.joined(separator: ", "))]"
    case .composite(let parts):
      let texts = parts.sorted { $0.key < $1.key }.map { "\($0.key): \(text(of: $0.value))" }
      return "{\(texts.joined(separator: ", "))}"
    default: return value.literal
    }
  }

  @Test(arguments: [("--csv", "csv"), ("--json", "jsonl")])
  func `random records of all types come back from what a query writes`(
    option: String, ending: String
  ) throws {
    let stage = try Stage()
    let (path, copy, file) = (stage.path("one"), stage.path("other"), stage.path("file.\(ending)"))
    try Self.make(at: path, count: 300)
    try Self.make(at: copy, count: 0)
    let query = try Command.run("query", path, "Thing", option)
    #expect(query.status == 0, "\(query.error)")
    try write(query.output, to: file)
    let command = try Command.run("import", copy, "Thing", file)
    #expect(command.status == 0, "\(command.error)")
    #expect(try Self.literals(copy) == Self.literals(path))
    // Blobs, too.
    #expect(try Command.run("export", copy).output == Command.run("export", path).output)
  }
}
