import ArgumentParser
import Cambium
import FoundationEssentials

/// A kind of file that becomes a store.
enum Conversion: String, CaseIterable, ExpressibleByArgument {
  /// A SQLite database, whose schema is found.
  case database
  /// Lines of CSV, as records of a type that is there, but for its records.
  case csv

  /// The goal: the ratio of the shell's time to the command's.
  var goal: Double {
    switch self {
    case .database: 1 / 0.75
    case .csv: 1 / 1.2
    }
  }

  var unit: String {
    switch self {
    case .database: "rows"
    case .csv: "lines"
    }
  }

  /// Converts once, and looks whether all of it is there.
  ///
  /// - Throws: The error in the process's words; `ValidationError` of a wrong answer.
  func round(
    of engine: ConvertingEngine, _ source: ShopDatabase, command: String, in directory: String
  ) throws -> ConversionRound {
    let target = "\(directory)/target"
    let expected = self == .csv ? source.csvQuantities : source.quantities
    switch (self, engine) {
    case (.csv, .cambium):
      try Self.run("\"$0\" import \"$1\" \"$2\" > /dev/null", command, target, source.emptyPath)
    case (.csv, .sqlite):
      try Self.run("cp \"$1\" \"$0\"", target, source.emptyPath)
    case (.database, _): break
    }
    let end =
      switch (self, engine) {
      case (.database, .cambium):
        try Self.run("exec \"$0\" import \"$1\" \"$2\" > /dev/null", command, target, source.path)
      case (.database, .sqlite):
        try Self.run("sqlite3 \"$1\" .dump | sqlite3 \"$0\"", target, source.path)
      case (.csv, .cambium):
        try Self.run(
          "exec \"$0\" import \"$1\" item \"$2\" > /dev/null", command, target, source.csvPath)
      case (.csv, .sqlite):
        try Self.run(
          "exec sqlite3 -csv \"$0\" \".import --skip 1 '$1' item\"", target, source.csvPath)
      }
    let found = engine == .cambium ? try Self.sum(store: target) : try source.sum(of: target)
    guard found == expected else {
      throw ValidationError(
        "\(engine.rawValue) gave a wrong answer: \(found), not \(expected) of \(rawValue)")
    }
    return ConversionRound(
      seconds: end.seconds, peakResident: end.peakResident, bytesOnDisk: try diskUse(of: directory))
  }

  @discardableResult
  private static func run(_ line: String, _ arguments: String...) throws -> ChildProcess.End {
    let end = try ChildProcess.run(["sh", "-c", line] + arguments, at: "/bin/sh")
    if let problem = end.problem { throw ValidationError("\(line): \(problem)") }
    return end
  }

  private static func sum(store path: String) throws -> ItemSum {
    var options = StoreOptions()
    options.access = .reading
    let store = try PersistentStore(untypedAt: path, options: options)
    defer { try? store.close() }
    var sum = ItemSum(count: 0, quantity: 0)
    try store.forEach(record: "item", fields: ["quantity"]) { record in
      guard case .integer(let quantity)? = record.fields["quantity"] else {
        throw ValidationError("an item has no quantity: \(record)")
      }
      sum.count += 1
      sum.quantity += Int(quantity)
    }
    return sum
  }
}

/// The number of items, and the sum of their quantities: both are the same after a conversion.
struct ItemSum: Equatable {
  var count: Int
  var quantity: Int
}
