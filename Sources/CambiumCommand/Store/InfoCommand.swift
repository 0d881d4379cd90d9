import ArgumentParser
import Cambium

struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Shows the size, versions and records of a store.",
    discussion: """
      It scans nothing, so a large store takes no longer than a small one. Another process may have the store open.

      Example: cambium info orders.cambium
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(help: "The number of recent commits to show, if the store keeps a history.")
  var commits = 5

  func validate() throws {
    if commits < 0 { throw ValidationError("The number of commits cannot be negative.") }
  }

  func run() throws {
    let found = try PersistentStore.inspect(
      at: arguments.store, lastCommits: commits, options: arguments.reading)
    if arguments.json {
      StandardOutput.line("\(found.json)")
    } else {
      for line in InfoText(found).lines { StandardOutput.line(line) }
    }
  }
}

/// The description of a store, for people.
private struct InfoText {
  private(set) var lines: [String] = []

  init(_ found: StoreInspection) {
    lines.append(Style.bold(found.path.inOneLine))
    add("format", "\(found.format), store \(found.identity)")
    add("state", state(of: found))
    add("size", "\(Figures.size(found.size)), of pages \(Figures.share(found.liveShare)) live")
    if let held = found.heldSpace.text { add("held", held) }
    add(
      "log",
      "\(Figures.size(found.log.usedBytes)) used of \(Figures.size(found.log.size)), use \(found.log.use)"
    )
    addBlobs(found)
    for schema in found.schemas {
      let label = schema.label.map { " “\($0)”" } ?? ""
      add(
        schema.version == found.schemas.first?.version ? "versions" : "",
        "\(schema.version)\(label), \(schema.fingerprint)")
    }
    addMigrations(found)
    addRecords(found.statistics)
    addReferences(found)
    addSegments(found.segments)
    addCommits(found.lastCommits)
  }

  private mutating func add(_ name: String, _ text: String) {
    lines.append(
      "  " + name + String(repeating: " ", count: max(1, 10 - name.count)) + text.inOneLine)
  }

  private func state(of found: StoreInspection) -> String {
    let folded = found.sequence - min(found.sequence, found.foldedSequence)
    return "commit \(Figures.count(found.sequence))"
      + (folded > 0 ? ", of which \(Figures.count(folded)) are in the log only" : "")
      + (found.isOpenForWriting ? ", open for writing" : "")
  }

  private mutating func addBlobs(_ found: StoreInspection) {
    let files = found.segments.count { $0.kind == .blobs }
    if files == 0 { return }
    add(
      "blobs",
      "\(Figures.count(found.blobCount)) of \(Figures.size(found.liveBlobBytes)) in"
        + " \(Figures.count(files, "file")), \(Figures.size(found.garbageBlobBytes)) garbage")
  }

  private mutating func addMigrations(_ found: StoreInspection) {
    if found.schemas.isEmpty { add("versions", "none: no program has put a model into it yet") }
    for kept in found.keptVersions {
      add(
        "kept",
        "version \(kept.version)\(kept.label.map { " “\($0)”" } ?? ""), commit \(kept.sequence)")
    }
    if found.keptBytes > 0 {
      add("", "\(Figures.size(found.keptBytes)) in files that only these need")
    }
    if let pending = found.pendingMigration {
      add(
        "pending",
        "\(Figures.count(pending.recordCount, "record")) of version \(pending.from) and above"
          + (pending.indexes.isEmpty ? "" : ", indexes " + pending.indexes.joined(separator: ", ")))
    }
  }

  private mutating func addRecords(_ statistics: StoreStatistics) {
    if statistics.records.isEmpty { return }
    let hasLevels = statistics.records.contains { $0.levelBytes > 0 }
    var table = TextTable(
      ["type", "records", "rows", "indexes"] + (hasLevels ? ["in levels"] : []),
      numbers: [1, 2, 3, 4])
    for record in statistics.records {
      let level = hasLevels ? [Figures.size(record.levelBytes)] : []
      table.add(
        [
          record.name, Figures.count(record.count), Figures.size(record.rowBytes),
          Figures.size(record.indexBytes),
        ] + level)
    }
    lines += [""] + table.lines.map { "  " + $0 }
  }

  private mutating func addReferences(_ found: StoreInspection) {
    var table = TextTable(["reference", "leads to", "entries"], numbers: [2])
    var isEmpty = true
    for record in found.statistics.records {
      let schema = found.schemas.last?.record(named: record.name)
      for (name, count) in record.references.sorted(by: { $0.key < $1.key }) {
        let destination = schema?.field(named: name)?.reference?.destinationText ?? ""
        table.add(["\(record.name).\(name)", destination, Figures.count(count)])
        isEmpty = false
      }
    }
    if !isEmpty { lines += [""] + table.lines.map { "  " + $0 } }
  }

  private mutating func addSegments(_ segments: [SegmentUse]) {
    if segments.isEmpty { return }
    var table = TextTable(["segment", "size", "live"], numbers: [1, 2])
    for segment in segments {
      let share = segment.size == 0 ? 1 : Double(segment.liveBytes) / Double(segment.size)
      table.add([
        "\(segment.kind.rawValue) \(segment.number)", Figures.size(segment.size),
        Figures.share(min(1, share)),
      ])
    }
    lines += [""] + table.lines.map { "  " + $0 }
  }

  private mutating func addCommits(_ commits: [CommitSummary]) {
    if commits.isEmpty { return }
    var table = TextTable(["commit", "date", "author"], numbers: [0])
    for commit in commits {
      table.add([
        Figures.count(commit.sequence), FieldValue.date(commit.date).cell, commit.author ?? "–",
      ])
    }
    lines += [""] + table.lines.map { "  " + $0 }
  }
}
