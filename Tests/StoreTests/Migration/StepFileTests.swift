import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Steps that are read from a text.
@Suite struct StepFileTests {
  /// A field `given` of version 2, as JSON gives it and as Swift does.
  struct Source: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let json: String
    let isOptional: Bool
    let type: FieldType
    let field: UpdateField

    init(
      _ json: String, _ type: FieldType, optional isOptional: Bool = false,
      _ field: UpdateField
    ) {
      testDescription = "\(json), \(type)"
      self.json = json
      self.isOptional = isOptional
      self.type = type
      self.field = field
    }
  }

  private static let moment = Date(timeIntervalSinceReferenceDate: 86_400)
  private static let number = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  private static let sources = [
    Source(#"{"path": "name"}"#, .string, UpdateField("given", path: "name")),
    Source(#"{"path": "place.city"}"#, .string, UpdateField("given", path: "place.city")),
    Source(
      #"{"path": "shop.city"}"#, .string, optional: true, UpdateField("given", path: "shop.city")),
    Source(#"{"convert": "refuse"}"#, .string, UpdateField("given", converting: .refuse)),
    Source(
      #"{"convert": "setAside"}"#, .int8, optional: true,
      UpdateField("given", converting: .setAside)),
    Source(
      #"{"convert": {"replace": -1}}"#, .int8, UpdateField("given", converting: .replace(-1))),
    Source(#"{"value": "new"}"#, .string, UpdateField("given", value: "new")),
    Source(#"{"value": null}"#, .string, optional: true, UpdateField("given", value: nil)),
    Source(#"{"value": true}"#, .boolean, UpdateField("given", value: true)),
    Source(
      #"{"value": 18446744073709551615}"#, .uint64,
      UpdateField("given", value: .unsigned(.max))),
    Source(
      #"{"value": "0.1"}"#, .decimal,
      UpdateField("given", value: .decimal(Decimal(sign: .plus, exponent: -1, significand: 1)))),
    Source(#"{"value": 0.5}"#, .double, UpdateField("given", value: 0.5)),
    Source(
      #"{"value": "2001-01-02T00:00:00Z"}"#, .date, UpdateField("given", value: .date(moment))),
    Source(
      #"{"value": "01020304-0506-0708-090A-0B0C0D0E0F10"}"#, .uuid,
      UpdateField("given", value: .uuid(number))),
    Source(#"{"value": "AP8="}"#, .binaryData, UpdateField("given", value: .data(Data([0, 255])))),
    Source(
      #"{"value": ["a", "b"]}"#, .array(of: .string), UpdateField("given", value: ["a", "b"])),
    Source(
      #"{"value": {"x": 7}}"#, .composite { Field(name: "x", type: .integer) },
      UpdateField("given", value: .composite(["x": 7]))),
  ]

  /// Version 1 has a string `given`, which is a number of some records.
  private static func model(_ source: Source) -> StoreModel {
    StoreModel(
      version: 2,
      untyped: [
        RemovedRecord("Item") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
          Field(name: "place", type: .composite { Field(name: "city", type: .string) })
          Field(name: "shop", type: .reference(to: "Shop"), optional: true)
          if version == 1 {
            Field(name: "given", type: .string)
          } else {
            Field(name: "given", type: source.type, optional: source.isOptional)
          }
        },
        RemovedRecord("Shop") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "city", type: .string)
        },
      ])
  }

  @Test(arguments: sources)
  func `a source in JSON makes what the same in Swift makes, K17`(source: Source) throws {
    let model = Self.model(source)
    let image = StoreImage()
    let store = try image.open(model.dynamic(version: 1))
    try store.write { transaction in
      try transaction.save(DynamicRecord("Shop", ["id": 1, "city": "Rome"]))
      for id in 0..<4 as Range<Int64> {
        try transaction.save(
          DynamicRecord(
            "Item",
            [
              "id": .integer(id), "name": .string("n\(id)"),
              "place": .composite(["city": .string("c\(id)")]),
              "shop": id == 2 ? 1 : nil, "given": .string(id == 3 ? "none" : "\(id)"),
            ]))
      }
    }
    try store.close()
    func records(_ steps: [MigrationStep]) throws -> [DynamicRecord] {
      let store = try image.copy().open(model, steps: steps)
      defer { try? store.close() }
      try store.expectSound()
      return try store.allRecords()
    }
    let read = try model.steps(
      parsing: #"[{"to": 2, "records": {"Item": {"given": \#(source.json)}}}]"#)
    let written = MigrationStep(to: 2) { UpdateRecord("Item") { source.field } }
    #expect(try records(read) == records([written]))
    #expect(try records(read).count == 5)
  }

  // MARK: Steps

  private static let steps = StoreModel(
    version: 3,
    untyped: [
      RemovedRecord("R") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "v", type: version == 1 ? .string : version == 2 ? .decimal : .integer)
      }
    ])

  @Test func `a step leads from where it says`() throws {
    let fingerprint = try Self.steps.schemas()[0].fingerprint
    let steps = try Self.steps.steps(
      parsing: """
        [ { "to": 3 },
          { "to": 3, "from": 1, "label": "straight" },
          { "to": 3, "from": [1, 2] },
          { "to": 3, "from": "\(fingerprint)" },
          { "to": 1, "from": 2 } ]
        """
    ).map { try $0.resolved(in: Self.steps) }
    #expect(steps.map(\.from) == [2...2, 1...1, 1...2, 1...1, 2...2])
    #expect(steps.map(\.to) == [3, 3, 3, 3, 1])
    #expect(steps.map(\.kind) == [.next, .direct, .squashed, .direct, .direct])
    #expect(steps.map(\.label) == [nil, "straight", nil, nil, nil])
  }

  @Test func `a file is read as its text is, and what is no file is an error`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/Steps.json"
    try Data(#"[{"to": 2}]"#.utf8).write(to: URL(filePath: path))
    #expect(try Self.steps.steps(contentsOf: path).map(\.to) == [2])
    #expect(throws: StepFileError.missing(path: path + "x")) {
      try Self.steps.steps(contentsOf: path + "x")
    }
    try Data([0x22, 0xff, 0x22]).write(to: URL(filePath: path))
    #expect(throws: StepFileError.malformed(reason: "\(path) is not in UTF-8")) {
      try Self.steps.steps(contentsOf: path)
    }
    #expect { try Self.steps.steps(contentsOf: directory.path) } throws: { error in
      if case StepFileError.io(directory.path, _) = error { true } else { false }
    }
  }

  // MARK: Faults

  private static let faults = [
    ("{}", "they are an array"),
    (#"["x"]"#, #"step 1: "x" is no object"#),
    (#"[{"from": 1}]"#, #"step 1: "to" is a version of the model, 1 to 3"#),
    (#"[{"to": 4}]"#, #"step 1: "to" is a version of the model, 1 to 3"#),
    (#"[{"to": 2, "form": 1}]"#, #"step 1: there is no member "form"; it may have "to", "from""#),
    (#"[{"to": 2, "to": 3}]"#, #"step 1: "to" is there twice"#),
    (#"[{"to": 2, "label": 1}]"#, "the step to 2: its label, 1, is no text"),
    (#"[{"to": 2, "from": [2, 1]}]"#, #"the step to 2: "from" is a version"#),
    (#"[{"to": 2, "from": "x"}]"#, #"the step to 2: "from" is a version"#),
    (#"[{"to": 2, "from": null}]"#, #"the step to 2: "from" is a version"#),
    (#"[{"to": 2, "records": []}]"#, "the step to 2, its records: [] is no object"),
    (
      #"[{"to": 2, "records": {"S": {}}}]"#,
      "the step to 2: there is no record S in that version; it has R"
    ),
    (
      #"[{"to": 2, "records": {"R": {"w": {"path": "v"}}}}]"#,
      "the step to 2, R.w: there is no such field; it has id, v"
    ),
    (#"[{"to": 2, "records": {"R": {"v": {}}}}]"#, "the step to 2, R.v: it has one source"),
    (
      #"[{"to": 2, "records": {"R": {"v": {"path": "id", "value": 1}}}}]"#,
      "the step to 2, R.v: it has one source"
    ),
    (
      #"[{"to": 2, "records": {"R": {"v": {"path": 1}}}}]"#,
      "the step to 2, R.v: 1 is no path"
    ),
    (
      #"[{"to": 3, "records": {"R": {"v": {"convert": "maybe"}}}}]"#,
      #"the step to 3, R.v: it is converted by "refuse", "setAside" or"#
    ),
    (
      #"[{"to": 3, "records": {"R": {"v": {"convert": {"replace": "x"}}}}}]"#,
      #"the step to 3, R.v: v: "x" is not int64"#
    ),
    (
      #"[{"to": 3, "records": {"R": {"v": {"choose": "second"}}}}]"#,
      #"the step to 3, R.v: an element is chosen by "first", "last", "only""#
    ),
    (
      #"[{"to": 3, "records": {"R": {"v": {"choose": {"least": 1}}}}}]"#,
      #"the step to 3, R.v: an element is chosen by "first", "last", "only""#
    ),
    (
      #"[{"to": 3, "records": {"R": {"v": {"value": 1.5}}}}]"#,
      "the step to 3, R.v: v: 1.5 is not int64"
    ),
  ]

  @Test(arguments: faults)
  func `what no step can be is refused with its place`(text: String, reason: String) throws {
    #expect { try Self.steps.steps(parsing: text) } throws: { error in
      guard case StepFileError.invalid(let reasons) = error, reasons.count == 1 else {
        return false
      }
      return reasons[0].hasPrefix(reason)
    }
  }

  @Test func `all faults are named at once, and what is not JSON by its line`() throws {
    let text = """
      [ { "to": 2, "records": { "R": { "v": {}, "w": {} } } },
        { "to": 9 } ]
      """
    #expect { try Self.steps.steps(parsing: text) } throws: { error in
      guard case StepFileError.invalid(let reasons) = error else { return false }
      return reasons.count == 3
    }
    #expect(
      throws: StepFileError.malformed(
        reason: "no JSON at byte 4 of its line 2: a comma or the end of the array was expected")
    ) { try Self.steps.steps(parsing: "[ {}\n   {} ]") }
  }
}
