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

  @Test func `records that lead to one that was left out are copied all the same`() throws {
    let store = stage.path("links")
    let made = try PersistentStore(at: store, model: Link.model)
    try made.write { transaction in
      for id in 0..<2_000 { try transaction.save(Link.Target(id: id, name: "target \(id)")) }
      for id in 0..<2_000 { try transaction.save(Link.Source(id: id, target: Reference(id))) }
    }
    try made.compact()
    try made.close()
    let map = try PersistentStore.map(at: store)
    let tree = try #require(map.trees.firstIndex(of: "Target"))
    let segment = try #require(
      map.segments.first { $0.regions.contains { $0.use == .page(.leaf, tree: tree) } })
    let region = try #require(segment.regions.first { $0.use == .page(.leaf, tree: tree) })
    let file =
      "\(store)/pages-\(String(repeating: "0", count: 10 - "\(segment.number)".count))\(segment.number)"
    var all = try bytes(of: file)
    all[region.blocks.lowerBound * 4096 + 200] ^= 1
    try write(all, to: file)
    let copy = stage.path("copy")
    let backup = try Command.run("backup", store, copy, "--skip-damaged")
    #expect(backup.status == 1, "\(backup.error)")
    #expect(backup.error.contains("others lead to it"))
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
