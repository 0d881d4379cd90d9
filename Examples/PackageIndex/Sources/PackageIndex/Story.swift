import Cambium
import FoundationEssentials

/// The life of a store from its first version to its fourth, on real records; one method for each part of it.
struct Story {
  let path: String
  let source: PackageSource
  private let clock = ContinuousClock()
  /// What happened, a line for each part.
  private(set) var lines: [String] = []

  init(at path: String, from source: PackageSource) {
    self.path = path
    self.source = source
  }

  mutating func tell() throws {
    try load()
    try planAndRehearse()
    try migrate()
    try ask()
    try goBackAndForth()
    try compact()
    try check()
  }

  private mutating func note(_ line: String) {
    lines.append(line)
  }
}

// MARK: - Version 1

extension Story {
  /// What the program of the first week does.
  private mutating func load() throws {
    heading("Version 1: load \(source.description)")
    let text = try source.text()
    var packages: [FirstProgram.Package] = []
    for paragraph in ControlText(text) {
      if let package = FirstProgram.Package(paragraph) { packages.append(package) }
    }
    let elapsed = try clock.measure {
      let store = try PersistentStore(at: path, model: FirstProgram.model)
      try store.write { try $0.save(contentsOf: packages) }
      try store.close()
    }
    note(
      "Loaded \(packages.count) packages, \(text.utf8.count.bytes) of text, in \(elapsed.text): "
        + "\(packages.count.perSecond(in: elapsed)) records a second; on disk \(try sizeOnDisk().bytes)."
    )
  }
}

// MARK: - To version 4

extension Story {
  private mutating func planAndRehearse() throws {
    heading("Version 4: what would it take?")
    let migration = try PersistentStore.migration(at: path, to: Model.today, steps: Model.steps)
    print(migration.plan)
    let report = try migration.rehearse()
    note(
      "Rehearsed the way to version 4 on the real records in \(report.elapsed.text); nothing has changed."
    )
  }

  private mutating func migrate() throws {
    heading("Version 4: migrate")
    let migration = try PersistentStore.migration(at: path, to: Model.today, steps: Model.steps)
    let bar = ProgressLine()
    let progress = migration.progress
    let watching = Task { for await step in progress { bar.show(step) } }
    let report = try migration.run()
    watching.cancel()
    bar.end()
    note(
      "Migrated from version \(report.from) to \(report.to) in \(report.elapsed.text): sizes became numbers, "
        + "maintainers records, descriptions compressed blobs; \(report.records.perSecond(in: report.elapsed)) "
        + "records a second.")
  }

  private mutating func goBackAndForth() throws {
    heading("Back to version 1, and forward again")
    let back = try clock.measure { try PersistentStore.rollback(at: path, to: 1) }
    let old = try PersistentStore(at: path, model: FirstProgram.model)
    let package = try old.first(Query<FirstProgram.Package>(where: \.package == "bash"))
    try old.close()
    print(
      "As version 1, bash has the size \(package.map { "\"\($0.size)\"" } ?? "of nothing"), a text."
    )
    let forward = try clock.measure {
      let migration = try PersistentStore.migration(
        at: path, to: Model.today, steps: Model.steps, options: .migratingAgain)
      try migration.run()
    }
    note(
      "Went back to version 1 in \(back.text), which copies nothing, and forward again in \(forward.text)."
    )
  }
}

// MARK: - With version 4

extension Story {
  private mutating func ask() throws {
    let store = try PersistentStore(at: path, model: Model.today)
    defer { try? store.close() }
    heading("The five largest in section \"editors\"")
    let query = Query<Package>(
      where: \.section == "editors", sortedBy: .descending(\.installedSize), limit: 5)
    let elapsed = try clock.measure {
      for package in try store.fetch(query) {
        print("  \(package.name)  \((package.installedSize << 10).bytes)  \(package.summary)")
      }
    }
    print(try store.explain(query, running: true))
    let statistics = try store.blobStatistics()
    note(
      "Asked for the largest editors by the index on sections in \(elapsed.text). \(statistics.count) descriptions of "
        + "\(Int(statistics.contentBytes).bytes) are \(Int(statistics.storedBytes).bytes) as blobs."
    )
  }

  private mutating func compact() throws {
    heading("Compact")
    let store = try PersistentStore(at: path, model: Model.today)
    try store.dropKeptVersions()
    let before = try sizeOnDisk()
    let elapsed = try clock.measure {
      try store.compact()
      try store.close()
    }
    note(
      "Dropped the old versions and compacted in \(elapsed.text): \(before.bytes) before, \(try sizeOnDisk().bytes) after."
    )
  }

  private mutating func check() throws {
    heading("Check")
    let elapsed = try clock.measure {
      let faults = try PersistentStore.snapshot(at: path).check()
      for fault in faults { print("  \(fault)") }
      guard faults.isEmpty else { throw faults[0] }
    }
    note("Checked every page, row, index entry and blob in \(elapsed.text): no fault.")
  }

  private func sizeOnDisk() throws -> Int { try DirectorySize.bytes(at: path) }

  private func heading(_ text: String) { print("\n== \(text)") }
}

extension StoreOptions {
  /// For a program that was gone back from, and says that it is mended.
  fileprivate static var migratingAgain: StoreOptions {
    var options = StoreOptions()
    options.migratesAgain = true
    return options
  }
}
