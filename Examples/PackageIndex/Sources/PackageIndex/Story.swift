import Cambium
import FoundationEssentials

/// The life of a store from its first version to its fourth, on real records; one method for each part of it.
struct Story {
  let path: String
  let source: PackageSource
  let clock = ContinuousClock()
  /// What happened, a line for each part.
  private(set) var lines: [String] = []

  init(at path: String, from source: PackageSource) {
    self.path = path
    self.source = source
  }

  mutating func tell() async throws {
    try load()
    try plan()
    try await rehearse()
    try await migrate()
    try ask()
    try goBack()
    try await goForwardAgain()
    try compact()
    try check()
  }

  mutating func note(_ line: String) {
    lines.append(line)
  }

  func heading(_ text: String) { print("\n== \(text)") }

  func sizeOnDisk() throws -> String { try DirectorySize.bytes(at: path).bytes }
}

// MARK: - Version 1

extension Story {
  /// What the program of the first week does.
  private mutating func load() throws {
    heading("Version 1: load \(source.description)")
    let text = try source.text()
    let packages = ControlText(text).lazy.compactMap { FirstProgram.Package($0) }
    var count = 0
    let elapsed = try clock.measure {
      let store = try PersistentStore(at: path, model: FirstProgram.model)
      try store.write { try $0.save(contentsOf: packages) }
      count = try store.count(Query<FirstProgram.Package>())
      try store.close()
    }
    note(
      "Loaded \(count.grouped) packages, \(text.utf8.count.bytes) of text, in \(elapsed.text), parsing included: "
        + "\(count.perSecond(in: elapsed)) records a second; on disk \(try sizeOnDisk()).")
  }
}

// MARK: - With version 4

extension Story {
  private mutating func ask() throws {
    let store = try PersistentStore(at: path, model: Model.today)
    defer { try? store.close() }
    heading("The five largest packages in section \"editors\"")
    let query = Package.where { $0.section == "editors" }.sorted(by: .descending(\.installedSize))
      .limit(5)
    var editors: [Package] = []
    let elapsed = try clock.measure { editors = try store.fetch(query) }
    for editor in editors {
      print("  \(editor.name), \((editor.installedSize << 10).bytes): \(editor.summary)")
    }
    print("\n\(try store.explain(query, running: true))")
    note(
      "Asked for the five largest editors, in \(elapsed.text); the plan says how they are found, and how else not."
    )
    try describe(store)
  }

  /// What the new records are: maintainers, and blobs.
  private mutating func describe(_ store: PersistentStore) throws {
    let maintainers = try store.count(Query<Maintainer>())
    let blobs = try store.blobStatistics()
    note(
      "There are \(maintainers.grouped) maintainers now, and \(blobs.count.grouped) descriptions in blobs: "
        + "\(blobs.contentBytes.bytes), compressed to \(blobs.storedBytes.bytes).")
  }

  private mutating func compact() throws {
    heading("Compact")
    let store = try PersistentStore(at: path, model: Model.today)
    var options = CompactionOptions()
    options.droppingOldVersions = true
    let prediction = try store.predictedGain(of: options)
    print("It will give back \(prediction.gain.bytes) of \(prediction.size.bytes) of pages.")
    let before = try sizeOnDisk()
    let elapsed = try clock.measure {
      try store.compact(options)
      try store.collectBlobs()
      try store.close()
    }
    note(
      "Let go of version 1 and compacted, in \(elapsed.text): \(before) before, \(try sizeOnDisk()) after."
    )
  }

  private mutating func check() throws {
    heading("Check")
    let start = clock.now
    let check = try PersistentStore.check(at: path, .deep)
    for fault in check.faults { print("  \(fault)") }
    if let fault = check.faults.first { throw fault }
    note(
      "Checked every page, all \(check.recordCount.grouped) records and their index entries in "
        + "\((clock.now - start).text): no fault.")
  }
}
