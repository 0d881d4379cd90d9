import Cambium
import Glibc
import TestSupport
import Testing

/// Texts that the command's output is held against.
///
/// With `CAMBIUM_RECORD` set they are rewritten, to review the difference before it is committed.
enum Recorded {
  /// Compares `text` with the file of a name.
  static func check(
    _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let path = directory + name
    if unsafe getenv("CAMBIUM_RECORD") != nil { try write(text, to: path) }
    let recorded = try contents(of: path)
    #expect(text == recorded, "\(name)", sourceLocation: sourceLocation)
  }

  private static let directory: String = {
    let file = #filePath
    let parts = file.split(separator: "/").dropLast(2)
    return "/" + parts.joined(separator: "/") + "/Fixtures/"
  }()

  /// Replaces the values that differ from run to run: identities, sizes, dates, the store's path, and how often the log was begun,
  /// which depends on when folds had their turn.
  static func masked(_ text: String, path: String) -> String {
    var masked = text
    while let range = masked.firstRange(of: path) { masked.replaceSubrange(range, with: "STORE") }
    masked.replace(/store [0-9a-f]{32}/, with: "store IDENTITY")
    masked.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|@\d+(\.\d+)?/, with: "DATE")
    masked.replace(/\d+(\.\d+)? (KiB|MiB|bytes)/, with: "SIZE")
    masked.replace(/\d+\.\d %/, with: "SHARE")
    masked.replace(/\d+(\.\d+)? (ms|s)\b/, with: "TIME")
    masked.replace(/, use \d+/, with: ", use NUMBER")
    masked.replace(/[ ]{2,}/, with: "  ")
    return masked
  }

  /// A schema file with the shop's two versions and a third.
  static func newerLock(in stage: Stage) throws -> String {
    let path = stage.path("Schema.lock")
    try write("\(try SchemaLock(NewerShop.model))", to: path)
    return path
  }

  /// A store that no program has put a model into.
  static func makeBare(at path: String) throws {
    try RawStore(at: path).close()
  }
}

/// A third version of the shop, which follows from its description.
enum NewerShop {
  /// Without the types, which need not agree with the description.
  static let model: StoreModel = StoreModel(
    version: 3, label: "third",
    untyped: [
      RemovedRecord("Item") { version in
        Shop.Item.recordDescription(for: version)
        if version > 2 { Field(name: "stock", type: .int32, default: 5) }
      },
      RemovedRecord("Visit") { version in Shop.Visit.recordDescription(for: version) },
    ])
}
