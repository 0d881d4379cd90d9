import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Compactions and backups.
@Suite struct SpaceTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = try stage.store(.good).path
  }

  private func export(_ path: String) throws -> String { try Command.run("export", path).output }

  /// Writes the same records again and again, so that there is garbage.
  private func waste() throws {
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    for round in 0..<4 {
      try store.write { transaction in
        for id in 0..<2_000 { try transaction.save(Shop.item(id, name: "round \(round)")) }
      }
    }
    try store.close()
  }

  @Test func `a compaction gives back what it said, and changes nothing that can be read`() throws {
    try waste()
    let before = try export(path)
    let size = try PersistentStore.inspect(at: path).pageBytes
    let prediction = try Command.run("compact", path, "--dry-run", "--json", "--drop-old-versions")
    #expect(prediction.status == 0, "\(prediction.error)")
    #expect(!prediction.output.contains(#""gain":0,"#))
    #expect(try PersistentStore.inspect(at: path).pageBytes == size)
    let command = try Command.run("compact", path, "--drop-old-versions")
    #expect(command.status == 0, "\(command.error)")
    #expect(command.output.contains(" → "))
    #expect(command.error.isEmpty)
    let found = try PersistentStore.inspect(at: path)
    #expect(found.pageBytes < size)
    #expect(found.keptVersions.isEmpty)
    #expect(try export(path) == before)
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
  }

  @Test func `a compaction says what moves out of the log, and no size twice`() throws {
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    try store.write { transaction in
      for id in 100..<300 { try transaction.save(Shop.item(id)) }
    }
    try store.flush()
    // As a crash leaves it.
    let copy = stage.path("copy")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try store.close()
    let prediction = try Command.run("compact", copy, "--dry-run")
    #expect(prediction.output.contains("In the log alone: 1 commit."), "\(prediction)")
    let first = try Command.run("compact", copy)
    #expect(
      first.output.contains("1 commit moved from the log into files of pages: "), "\(first)")
    let second = try Command.run("compact", copy)
    #expect(!second.output.contains("moved from the log"), "\(second)")
    for text in [prediction.output, first.output, second.output] {
      #expect(text.firstMatch(of: /([0-9.]+ [a-zA-Z]+) → \1\b/) == nil, "\(text)")
    }
  }

  @Test func `a store that is nearly all live is left as it is, unless that is forced`() throws {
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    try store.write { transaction in
      for id in 0..<3_000 { try transaction.save(Shop.item(id)) }
    }
    try store.close()
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("pages") }
        .sorted()
    }
    let forced = try Command.run("compact", path, "--force", "--drop-old-versions")
    #expect(forced.output.contains(" entries were moved in "), "\(forced)")
    let (names, content) = (try files(), try export(path))
    let prediction = try Command.run("compact", path, "--dry-run").output
    #expect(prediction.contains("nothing is moved without --force"), "\(prediction)")
    let command = try Command.run("compact", path)
    #expect(command.status == 0 && command.output.contains("Nothing was moved"), "\(command)")
    let json = try Command.run("compact", path, "--json").output
    #expect(json.contains(#""slices":0,"#), "\(json)")
    #expect(try files() == names)
    // Pages that are not full are merged even if there is no garbage.
    let again = try Command.run("compact", path, "--force").output
    #expect(again.contains(" entries were moved in "), "\(again)")
    #expect(try files() != names)
    #expect(try export(path) == content)
    let rest = try Command.run("compact", path, "--dry-run", "--force").output
    #expect(!rest.contains("--force"), "\(rest)")
  }

  @Test func `states from before migrations are kept unless they are dropped`() throws {
    #expect(try Command.run("compact", path).status == 0)
    #expect(try PersistentStore.inspect(at: path).keptVersions.map(\.version) == [1])
    #expect(
      try Command.run("compact", path, "--segments", "--rate", "1000", "--json").output.contains(
        #""sizeAfter":"#))
    #expect(try Command.run("rollback", path, "--discard").status == 0)
  }

  @Test func `interrupted, a compaction leaves the store whole and is gone on with`() throws {
    try waste()
    let before = try export(path)
    let command = try Command.run(
      "compact", path, "--rate", "1", signal: (SIGINT, 300))
    #expect([0, 130].contains(command.status), "\(command.error)")
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    #expect(try Command.run("compact", path).status == 0)
    #expect(try export(path) == before)
  }

  @Test func `info shows what a snapshot of another process holds in deleted files`() throws {
    try waste()
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    let snapshot = try store.snapshot()
    var options = CompactionOptions()
    options.droppingOldVersions = true
    try store.compact(options)
    let text = try Command.run("info", path).output
    #expect(text.contains(" in deleted files that process") && text.contains("\(getpid())"))
    let json = try Command.run("info", path, "--json").output
    #expect(json.firstMatch(of: /"held":\{"bytes":[1-9]\d+,"processes":\[\d/) != nil, "\(json)")
    #expect(json.contains(#""oldestSnapshotSeconds":"#))
    #expect(try snapshot.count(record: "Item") > 0)
    try store.close()
  }

  @Test func `a collection reclaims the space of deleted blobs, and keeps the others`() throws {
    let path = stage.path("gallery.cambium")
    var options = StoreOptions()
    options.automaticCompaction = nil
    let model = StoreModel(records: [Gallery.Picture.self])
    let store = try PersistentStore(at: path, model: model, options: options)
    try store.write { transaction in
      for id in 1...8 {
        var state = UInt64(id)
        let content = Data(
          (0..<20_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
          })
        try transaction.save(Gallery.Picture(id: id, content: Blob(content)))
      }
    }
    try store.write { transaction in
      for id in 3...8 { _ = try transaction.delete(Gallery.Picture.self, key: id) }
    }
    try store.close()
    let before = try export(path)
    let command = try Command.run("collect", path, "--json")
    #expect(command.status == 0, "\(command.error)")
    let json = try JSONParser.parse(Array(command.output.utf8))
    let sizes = try (
      #require(json["blobSizeBefore"]?.integer), #require(json["blobSizeAfter"]?.integer)
    )
    #expect(sizes.0 > 160_000 && sizes.1 < sizes.0, "\(sizes)")
    #expect(json["blobs"]?.integer == 2)
    #expect(try export(path) == before)
    #expect(try Command.run("collect", path).output.contains(", as before."))
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
  }

  @Test func `a backup is the same store, also beside its writer`() throws {
    let copy = stage.path("copy")
    let command = try Command.run("backup", path, copy)
    #expect(command.status == 0, "\(command.error)")
    #expect(try export(copy) == export(path))
    #expect(try Command.run("backup", path, copy).status == 7)
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    try store.save(Shop.item(70))
    try store.flush()
    // Commits shown beside a writer are those known to be flushed: the idle moment says so.
    while try PersistentStore.snapshot(at: path).count(record: "Item") < 5 { usleep(10_000) }
    #expect(try Command.run("backup", path, copy + "/", "--force", "--json").status == 0)
    try store.close()
    #expect(try PersistentStore.snapshot(at: copy).count(record: "Item") == 5)
    #expect(try PersistentStore.check(at: copy, .deep).isWhole)
    #expect(try stage.directory.workNames() == [])
  }

  @Test func `a backup is checked, and keeps a rate, if that is wanted`() throws {
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    try store.write { transaction in
      for id in 100..<20_000 { try transaction.save(Shop.item(id)) }
    }
    try store.close()
    let copy = stage.path("copy")
    let start = ContinuousClock.now
    let command = try Command.run("backup", path, copy, "--verify", "--rate", "3", "--json")
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    #expect(command.status == 0, "\(command.error)")
    let json = try JSONParser.parse(Array(command.output.utf8))
    let bytes = try #require(json["bytes"]?.integer)
    // It is looked at after every few thousand entries, so that the last ones are not waited for.
    #expect(elapsed > Double(bytes) / Double(3 << 20) / 2, "\(bytes) in \(elapsed)")
    #expect(try export(copy) == export(path))
    let quick = try Command.run("backup", path, copy, "--verify", "--force")
    #expect(quick.output.hasSuffix(" to \(copy), and checked.\n"), "\(quick)")
    for wrong in [["--rate", "0"], ["--skip-damaged", "--verify"]] {
      #expect(try Command.run(["backup", path, stage.path("none")] + wrong).status == 2)
    }
    #expect(!exists(stage.path("none")))
  }

  @Test func `a backup that cannot be made leaves nothing`() throws {
    #expect(try Command.run("backup", path, stage.path("no/where")).status != 0)
    let file = stage.path("file")
    try write("keep me", to: file)
    #expect(try Command.run("backup", path, file, "--force").status == 5)
    #expect(try contents(of: file) == "keep me")
  }
}
