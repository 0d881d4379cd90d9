import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// `--skip-damaged` never stops at a second damage, and ends with 1 where anything was left out.
@Suite struct SkipDamagedTests {
  private let stage: Stage

  init() throws { stage = try Stage() }

  private func hostile(_ name: String) throws -> String {
    let store = stage.path(name)
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    let archive = "/\(tests)/Fixtures/hostile/\(name).tar.zst"
    #expect(unsafe system("tar --zstd -xf \(archive) -C \(store)") == 0)
    return store
  }

  @Test(arguments: ["metadata-not-json", "no-header-of-blobs", "external-string-not-utf8"])
  func `a damaged value or a lost header of blobs is left out, and the rest copied`(name: String)
    throws
  {
    let store = try hostile(name)
    let export = try Command.run("export", store, "--skip-damaged")
    #expect(export.status == 1, "\(export.error)")
    #expect(export.error.contains("left out"))
    #expect(export.output.hasSuffix("}\n") && export.output.contains("{\"end\":"))
    #expect(try Command.run("export", store).status == 1)
    let copy = stage.path("copy")
    let backup = try Command.run("backup", store, copy, "--skip-damaged")
    #expect(backup.status == 1, "\(backup.error)")
    #expect(try PersistentStore.check(at: copy, .deep).isWhole)
    let (file, second) = (stage.path("file"), stage.path("second"))
    try write(export.output, to: file)
    #expect(try Command.run("import", second, file).status == 0)
  }

  /// Makes a store of records that lead to others, and damages a page of those.
  private func damagedLinks() throws -> String {
    let store = stage.path("links")
    let made = try PersistentStore(at: store, model: Link.model)
    try made.write { transaction in
      for id in 0..<2_000 { try transaction.save(Link.Target(id: id, name: "target \(id)")) }
      for id in 0..<2_000 { try transaction.save(Link.Source(id: id, target: Reference(id))) }
    }
    try made.compact()
    try made.close()
    try damageFirstLeaf(of: "Target", in: store)
    return store
  }

  private func damageFirstLeaf(of record: String, in store: String) throws {
    let map = try PersistentStore.map(at: store)
    let tree = try #require(map.trees.firstIndex(of: record))
    let segment = try #require(
      map.segments.first { $0.regions.contains { $0.use == .page(.leaf, tree: tree) } })
    let region = try #require(segment.regions.first { $0.use == .page(.leaf, tree: tree) })
    let file =
      "\(store)/pages-\(String(repeating: "0", count: 10 - "\(segment.number)".count))\(segment.number)"
    var all = try bytes(of: file)
    all[region.blocks.lowerBound * 4096 + 200] ^= 1
    try write(all, to: file)
  }

  @Test func `a copy takes all numbers of a sequence without gaps, and continues it`() throws {
    let store = stage.path("bills")
    let made = try PersistentStore(at: store, model: Bill.model)
    try made.write { transaction in
      for id in 0..<2_000 { try transaction.save(Bill(id: id)) }
    }
    _ = try made.write { try $0.delete(Bill.where { $0.id >= 1_990 }) }
    try made.compact()
    try made.close()
    try damageFirstLeaf(of: "Bill", in: store)
    let copy = stage.path("copy")
    let backup = try Command.run("backup", store, copy, "--skip-damaged")
    #expect(backup.status == 1 && backup.error.contains(" records of Bill: "), "\(backup.error)")
    let copied = try PersistentStore(at: copy, model: Bill.model)
    #expect(try copied.fetch(Bill.self, key: 1_989)?.number == 1_990)
    #expect(try copied.fetch(Bill.self, key: 0) == nil)
    // The numbers of deleted records are not given again.
    #expect(try copied.write { try $0.insertAndFetch(Bill(id: -1)) }.number == 2_001)
    try copied.close()
  }

  @Test func `many records that are left out are one line for each type`() throws {
    let store = try damagedLinks()
    let (copy, file) = (stage.path("copy"), stage.path("file"))
    let backup = try Command.run("backup", store, copy, "--skip-damaged")
    let lost = try 2_000 - PersistentStore.snapshot(at: copy).count(record: "Target")
    #expect(lost > 10)
    let lines = backup.error.split(separator: "\n")
    #expect(lines.count == 3, "\(backup.error)")
    #expect(lines[0].hasPrefix("cambium: left out \(Self.grouped(lost)) records of Target: "))
    #expect(lines[0].contains(" and \(Self.grouped(lost - 3)) more. The first: The page at "))
    // The advice is printed once, and is none to make the copy that has just been made.
    #expect(lines[2].contains("`cambium diff`") && lines[2].contains("--verbose"))
    #expect(!backup.error.contains("backup --skip-damaged"))
    let export = try Command.run("export", store, "--skip-damaged", "-o", file)
    #expect(export.status == 1 && export.error.split(separator: "\n").count == 2)
    #expect(export.error.hasPrefix("\(lines[0])\n"))

    let arguments = ["--skip-damaged", "--verbose", "--force"]
    let verbose = try Command.run(["backup", store, copy] + arguments)
    let named = verbose.error.split(separator: "\n").filter { $0.contains("left out Target ") }
    #expect(named.count == lost && !verbose.error.contains("--verbose"))
    #expect(try Command.run("backup", store, stage.path("new"), "--verbose").status == 2)
  }

  @Test func `programs get every record that is left out in JSON`() throws {
    let store = try damagedLinks()
    let (copy, file) = (stage.path("copy"), stage.path("file"))
    let backup = try Command.run("backup", store, copy, "--skip-damaged", "--json")
    let lost = try 2_000 - PersistentStore.snapshot(at: copy).count(record: "Target")
    let copied = try JSONDecoder().decode(SkipOutput.self, from: Data(backup.output.utf8))
    #expect(copied.records == 4_000 - lost && copied.skipped == lost)
    #expect(copied.leftOut.count == lost && copied.lost.count == lost)
    #expect(copied.leftOut.allSatisfy { $0.record == "Target" && $0.number ?? 0 > 0 })
    // Nothing beside it but the error, a line of JSON as well.
    #expect(backup.error.split(separator: "\n").count == 1 && backup.error.hasPrefix("{\"error\":"))
    let export = try Command.run("export", store, "--skip-damaged", "--json", "-o", file)
    let written = try JSONDecoder().decode(SkipOutput.self, from: Data(export.output.utf8))
    #expect(written.records == copied.records && written.leftOut.count == lost)
    // If the output is the export itself, the error has them.
    let piped = try Command.run("export", store, "--skip-damaged", "--json")
    let error = try JSONDecoder().decode(SkipFailure.self, from: Data(piped.error.utf8)).error
    #expect(error.parts.leftOut.count == lost && error.parts.skipped == lost)
  }

  private static func grouped(_ count: Int) -> String {
    count < 1_000 ? "\(count)" : "\(count / 1_000)," + "\(1_000 + count % 1_000)".dropFirst()
  }

  @Test func `records that lead to one that was left out are copied all the same`() throws {
    let store = try damagedLinks()
    let copy = stage.path("copy")
    let backup = try Command.run("backup", store, copy, "--skip-damaged")
    #expect(backup.status == 1, "\(backup.error)")
    #expect(backup.error.contains("of Target are lost, and others lead to them: "))
    let snapshot = try PersistentStore.snapshot(at: copy)
    #expect(try snapshot.count(record: "Source") == 2_000)
    #expect(try snapshot.count(record: "Target") < 2_000)
    #expect(try PersistentStore.check(at: copy, .deep).isWhole)
    let salvaged = stage.path("salvaged")
    let salvage = try Command.run("salvage", store, salvaged, "--newest", "--json")
    #expect(salvage.status == 1)
    let found = try PersistentStore.snapshot(at: salvaged)
    #expect(try found.count(record: "Source") == 2_000)
    // Missing data is listed by record and range of keys, for programs and for people.
    let report = try JSONDecoder().decode(SalvageOutput.self, from: Data(salvage.output.utf8))
    let losses = report.damaged.filter { $0.record == "Target" }
    #expect(losses.count == 1 && losses.allSatisfy { $0.from != nil || $0.to != nil })
    #expect(try losses.reduce(0) { $0 + ($1.count ?? 0) } == 2_000 - found.count(record: "Target"))
    #expect(report.lost.allSatisfy { $0.record == "Target" } && !report.lost.isEmpty)
    #expect(salvage.output.contains("\"log_unread\":null"))
    let text = try Command.run("salvage", store, stage.path("again"), "--newest")
    #expect(text.status == 1)
    #expect(text.error.contains("Damaged: Target, keys "), "\(text.error)")
    let lines = text.error.split(separator: "\n").filter { $0.contains(" of Target are lost, ") }
    #expect(lines.count == 1, "\(text.error)")
  }

  @Test func `records that a salvage leaves out are one line for each type and reason`() throws {
    let store = stage.path("coins")
    let first = try PersistentStore(
      at: store, model: StoreModel(version: 1, records: [Coin.First.self]))
    try first.save(contentsOf: (0..<2_000).map { Coin.First(id: $0, worth: Int16($0)) })
    try first.close()
    let model = StoreModel(version: 2, records: [Coin.Second.self])
    try PersistentStore(at: store, model: model).close()
    // The rows of version 1 are still there, and nothing says what the migration made of them.
    try damageFirstLeaf(of: "Coin", in: store)
    let copy = stage.path("copy")
    let salvage = try Command.run("salvage", store, copy)
    let lost = try 2_000 - PersistentStore.snapshot(at: copy).count(record: "Coin")
    #expect(salvage.status == 1 && lost > 10)
    let lines = salvage.error.split(separator: "\n").filter { $0.contains("left out") }
    #expect(lines.count == 2, "\(salvage.error)")
    let beginning = "cambium: left out \(Self.grouped(lost)) records of Coin: 0, 1, 2 and "
    #expect(lines.first?.hasPrefix(beginning) ?? false)
    #expect(lines.first?.contains("R7") ?? false)
    #expect(lines.last?.contains("--verbose") ?? false)
    let verbose = try Command.run("salvage", store, copy, "--force", "--verbose")
    let named = verbose.error.split(separator: "\n").filter { $0.contains("left out Coin ") }
    #expect(named.count == lost && !verbose.error.contains("--verbose"))
    let json = try Command.run("salvage", store, copy, "--force", "--json")
    let report = try JSONDecoder().decode(SalvageOutput.self, from: Data(json.output.utf8))
    #expect(report.leftOut.count == lost && report.leftOut.allSatisfy { $0.record == "Coin" })
    let copied = try PersistentStore(at: copy, model: model)
    #expect(try copied.fetch(Coin.Second.self).allSatisfy { $0.worth == Int32($0.id) })
    try copied.close()
  }

  @Test(arguments: ["salvage", "backup"])
  func `a store is not replaced by its own copy`(command: String) throws {
    let path = try stage.store(.good).path
    let before = try PersistentStore.snapshot(at: path).count(record: "Item")
    for copy in [path, path + "/", path + "/../good/."] where unsafe access(copy, F_OK) == 0 {
      #expect(try Command.run(command, path, copy, "--force").status == 7)
    }
    #expect(try PersistentStore.snapshot(at: path).count(record: "Item") == before)
  }
}

/// The output of `backup --skip-damaged --json`.
private struct SkipOutput: Decodable {
  struct LeftOut: Decodable {
    var record: String
    var number: Int?
  }

  struct Lost: Decodable {
    var record: String
    var key: String
  }

  var records: Int?
  var skipped: Int
  var leftOut: [LeftOut]
  var lost: [Lost]

  enum CodingKeys: String, CodingKey {
    case records, skipped, lost
    case leftOut = "left_out"
  }
}

/// The error of `export --skip-damaged --json`.
private struct SkipFailure: Decodable {
  struct Failure: Decodable {
    var parts: SkipOutput
  }

  var error: Failure
}

/// A record in two versions, whose second is made at once.
private enum Coin {
  struct First: Record {
    var id: Int
    var worth: Int16

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Coin")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "worth", type: .int16)
    }
  }

  struct Second: Record {
    var id: Int
    var worth: Int32

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Coin")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "worth", type: version < 2 ? .int16 : .int32)
    }
  }
}

/// The parts of the output of `salvage --json` that say what is missing.
private struct SalvageOutput: Decodable {
  struct Loss: Decodable {
    var record: String?
    var from: String?
    var to: String?
    var count: Int?
  }

  struct Lost: Decodable {
    var record: String
    var key: String
  }

  var damaged: [Loss]
  var lost: [Lost]
  var leftOut: [Lost]

  enum CodingKeys: String, CodingKey {
    case damaged, lost
    case leftOut = "left_out"
  }
}

private struct Bill: Record, Identifiable {
  static let model = StoreModel(records: [Bill.self])

  var id: Int
  var number = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Bill")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(
      name: "number", type: .integer, unique: true, generated: .sequence(withoutGaps: true))
  }
}

private enum Link {
  static let model = StoreModel(records: [Target.self, Source.self])

  struct Target: Record, Identifiable {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Target")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  struct Source: Record, Identifiable {
    var id: Int
    var target: Reference<Target>

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Source")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "target", type: .reference(to: Target.self))
    }
  }
}
