import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Random databases that become stores: each value and each reference is that of SQLite, or a note names the
/// difference.
@Suite struct RandomImportTests {
  /// `CAMBIUM_SOAK`: the number of the round, which has other seeds and more of them. Without it, the seeds are always the
  /// same.
  private static let seeds: Range<UInt64> = {
    let text = unsafe getenv("CAMBIUM_SOAK").map { unsafe String(cString: $0) } ?? ""
    guard let round = UInt64(text) else { return 1..<49 }
    return round * 1_000..<round * 1_000 + 500
  }()
  private static let parts: UInt64 = 2

  private let stage: Stage

  init() throws { stage = try Stage() }

  @Test(arguments: 0..<parts)
  func `a random database is imported with all of its values, or a note says which differ`(
    part: UInt64
  ) throws {
    let seeds = Self.seeds.filter { $0 % Self.parts == part }
    print("RandomImportTests: the seeds of part \(part) are in \(Self.seeds)")
    let databases = seeds.map { RandomDatabase(seed: $0) }
    try make(databases)
    for (number, database) in databases.enumerated() {
      let rows = try contents(of: stage.path("\(number).txt"))
      let differences = try differences(of: database, rows, number)
      #expect(
        differences.isEmpty,
        "seed \(seeds[number]): \(differences.joined(separator: "\n"))\n\(database.statements)")
    }
  }

  /// Makes all of them by one run of SQLite's own program, and prints their content.
  private func make(_ databases: [RandomDatabase]) throws {
    var script = ""
    for (number, database) in databases.enumerated() {
      script += """
        .open '\(stage.path("\(number).db"))'
        BEGIN;
        \(database.statements)COMMIT;
        .output '\(stage.path("\(number).txt"))'
        \(database.dump).output

        """
    }
    let path = stage.path("script.sql")
    try write(script, to: path)
    try #require(unsafe system("sqlite3 -bail < '\(path)'") == 0)
  }

  /// Imports a database. Returns in words the values that are neither as in SQLite nor named by a note.
  private func differences(
    of database: RandomDatabase, _ rows: String, _ number: Int
  ) throws -> [String] {
    let store = stage.path("\(number).cambium")
    let command = try Command.run("import", store, "--sqlite", stage.path("\(number).db"))
    guard command.status == 0 else {
      // Strings that no field can hold may be refused, with their column.
      let isNamed = database.tables.contains { table in
        table.columns.contains { command.error.contains("\(table.name).\($0.name)") }
      }
      let isRefusal = database.hasMalformedStrings && command.error.contains("UTF-8") && isNamed
      return isRefusal ? [] : ["it is not imported: \(command.error)"]
    }
    guard try PersistentStore.check(at: store, .deep).isWhole else { return ["it is not whole"] }
    let opened = try PersistentStore(untypedAt: store)
    defer { try? opened.close() }
    let notes = command.error.split(separator: "\n").filter { $0.hasPrefix("note: ") }
      .map { String($0.dropFirst("note: ".count)) }
    var comparison = try ImportComparison(database, rows, opened, notes)
    try comparison.run()
    return comparison.differences
  }
}
