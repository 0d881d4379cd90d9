import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The values of each type that no program means, and a store to pass them to.
final class Extremes {
  static let integers = [Int.min, Int.min + 1, -1, 0, 1, 65_536, Int.max - 1, Int.max]
  static let numbers: [Double] = [
    -.infinity, -.greatestFiniteMagnitude, -1, -0.0, .leastNonzeroMagnitude, 2, 1e300, .infinity,
    .nan,
  ]
  static let durations: [Duration] = [
    .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .seconds(Int64.max),
  ]
  static let dates = numbers.map { Date(timeIntervalSinceReferenceDate: $0) }
  /// None is the name of a file or directory that exists.
  static let strings = [
    "", "\0", "a\0b", "..", "no/such", "\u{301}a", "\u{FFFF}", "(((", "^(a+)+$", "a.b.c",
    String(repeating: "(", count: 10_000), String(repeating: "x", count: 70_000),
  ]
  static let values: [FieldValue] =
    [.null, .boolean(true), .data(Data()), .array([]), .array([.null, .array([])])]
    + integers.map { .integer(Int64($0)) } + [.unsigned(.max), .uuid(UUID())]
    + numbers.map { .double($0) } + dates.map { .date($0) } + strings.map { .string($0) }
    + [.decimal(.nan), .decimal(.greatestFiniteMagnitude), .float(.nan)]
  static let conditions: [FieldCondition] = {
    var conditions: [FieldCondition] = [.and([]), .or([]), .not(.and([])), .isIn(field: "id", [])]
    for value in values {
      conditions.append(.comparison(field: "id", .less, value))
      conditions.append(.isIn(field: "name", [value]))
      conditions.append(.contains(field: "image", value))
    }
    for text in strings {
      conditions.append(.comparison(field: text, .equal, 1))
      conditions += TextMatch.Kind.allCases.map { .match(field: "name", TextMatch($0, text)) }
    }
    let deep = (0..<10_000).reduce(FieldExpression.field("id")) { operand, _ in .negated(operand) }
    conditions.append(.computed(deep, .equal, .value(1)))
    conditions.append((0..<10_000).reduce(.and([])) { condition, _ in .not(condition) })
    return conditions
  }()

  let directory: TemporaryDirectory
  let store: PersistentStore

  init() throws {
    directory = try TemporaryDirectory()
    var options = StoreOptions()
    options.history = .keptCommits(100)
    store = try PersistentStore(
      at: directory.path + "/store", model: Photo.model, options: options)
    try store.save(Photo(1, image: 3_000))
    try store.save(Photo(2, image: 10))
  }

  /// Runs a call that may succeed, or throw an error of the library.
  static func attempt(_ call: () throws -> Void) {
    do {
      try call()
    } catch is StoreError {
    } catch is ConditionSyntaxError {
    } catch is SchemaLockError {
    } catch is StepFileError {
    } catch is FieldMismatch {
    } catch is DecodingError {  // of bytes that a program passes to a codec
    } catch {
      Issue.record(error, "not an error of the library")
    }
  }

  func write(_ body: (inout WriteTransaction) throws -> Void) {
    Self.attempt { try store.write { try body(&$0) } }
  }

  /// Describes a record that has these elements too.
  static func describe(
    @RecordDescription.ResultBuilder _ elements: @escaping @Sendable (Int) -> RecordDescription
  ) {
    attempt {
      _ = try PersistentStore(
        inMemory: StoreModel(
          records: [], removed: [RemovedRecord("Gone", description: elements)]))
    }
  }

  /// Migrates a store of one record to version 2 by a step.
  static func migrate(_ step: MigrationStep) {
    attempt {
      let directory = try TemporaryDirectory()
      let path = directory.path + "/store"
      func model(_ version: Int) -> StoreModel {
        StoreModel(version: version, records: [Extreme.self])
      }
      let old = try PersistentStore(at: path, model: model(1))
      try old.write { transaction in
        try transaction.save(DynamicRecord("Extreme", ["id": 1, "text": "x"]))
      }
      try old.close()
      _ = try PersistentStore(at: path, model: model(2), steps: [step])
    }
  }
}

/// A record that gets a field in version 2.
struct Extreme: Record {
  var id = 0
  var text = ""
  var added = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
    if version >= 2 {
      Field(name: "added", type: .integer, migrationInfo: MigrationInfo(default: 0))
    } else {
      Transient("added", default: 0)
    }
  }
}
