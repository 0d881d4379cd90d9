import ArgumentParser
import Cambium

struct SalvageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Copies the readable part of a damaged store.",
    discussion: """
      This is the last resort. It copies everything whose page is undamaged into a new store, whatever else \
      is damaged or gone: the log, headers, footers, files of blobs, other pages. If pages of a state are \
      damaged, it looks for their records in all other pages; some of these may be older versions, or may \
      have been deleted. It lists missing data by record and range of keys, and sums up by record and reason \
      the records that it leaves out. The damaged store is not changed. A store of a newer version of Cambium is refused. The status is 1 if anything is missing or \
      may be older.

      Example: cambium salvage damaged.cambium salvaged.cambium
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The directory of the new store, which must not exist.", completion: .directory)
  var copy: String

  @Flag(help: "Copy only the newest state, without its damaged parts.")
  var newest = false

  @Flag(help: "Copy the newest state that is undamaged, without later commits.")
  var whole = false

  @Option(
    help: "The schema file that SchemaLock.write made, if the store's own schema is lost.",
    completion: .file())
  var schema: String?

  @Flag(help: "Replace the store if it exists.")
  var force = false

  @Flag(help: "Name each record that is left out or lost.")
  var verbose = false

  func validate() throws {
    if newest, whole { throw ValidationError("Use --newest or --whole, not both.") }
  }

  func run() throws {
    var options = SalvageOptions()
    options.extent = whole ? .wholeState : newest ? .newestState : .everything
    options.schema = try schema.map { try SchemaLock(contentsOf: $0) }
    let report = try NewStore.make(
      at: copy, of: arguments.store, replacing: force, arguments.reading
    ) { path in
      try PersistentStore.salvage(at: arguments.store, to: path, options: options)
    }
    StandardOutput.line(
      arguments.json
        ? "\(report.json)"
        : "\(Figures.count(report.recordCount, "record")) of commit \(Figures.count(report.sequence)) copied to \(copy). The newest commit found is \(Figures.count(report.newestSequence))."
    )
    // In JSON they are in the answer.
    if !arguments.json {
      for line in report.problems { StandardError.line("cambium: \(line)") }
      let leftOut = LeftOutRecords(isVerbose: verbose, arguments)
      for omission in report.omissions { leftOut.add(omission) }
      for missing in report.missing { leftOut.add(missing) }
      leftOut.sayAll()
    }
    if !report.isWhole {
      let isSummedUp = !verbose && !arguments.json && !report.omissions.isEmpty
      throw CommandFailure(
        .fault,
        "The copy lacks damaged parts, or may have older versions of them."
          + (isSummedUp ? " --verbose names each record that was left out." : ""))
    }
  }
}

extension SalvageReport {
  fileprivate var recordCount: Int { records.values.reduce(0, +) }

  /// A line for each thing but records that is not in the copy, or was wrong with the store.
  fileprivate var problems: [String] {
    var lines: [String] = []
    if sequence < newestSequence {
      lines.append("Later commits, up to \(newestSequence), are not in the copy.")
    }
    if let unreadLog { lines.append("Damaged: \(unreadLog)") }
    lines += losses.map { "Damaged: \($0)" }
    if damagedBlobs > 0 { lines.append("\(Figures.count(damagedBlobs, "blob")) cannot be read.") }
    lines += remainingFaults.map { "In the copy: \($0)" }
    return lines + faults.map { "\($0)" }
  }

  fileprivate var json: JSONValue {
    [
      "sequence": JSONValue(sequence), "newest": JSONValue(newestSequence),
      "whole": .boolean(isWhole),
      "records": .object(
        records.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: JSONValue($0.value)) }),
      "damaged": .array(losses.map(\.json)), "left_out": .array(omissions.map(\.json)),
      "log_unread": unreadLog?.json ?? .null, "lost": .array(missing.map(\.json)),
      "damaged_blobs": JSONValue(damagedBlobs),
      "in_copy": .array(remainingFaults.map { .string("\($0)") }),
      "faults": .array(faults.map { .string("\($0)") }),
    ]
  }
}

extension SalvageReport.Loss {
  fileprivate var json: JSONValue {
    [
      "record": JSONValue(record), "tree": .string(tree), "from": JSONValue(from),
      "to": JSONValue(to), "count": count.map { JSONValue($0) } ?? .null,
      "found": JSONValue(found), "error": .string("\(error)"),
    ]
  }
}

extension SalvageReport.UnreadLog {
  fileprivate var json: JSONValue {
    [
      "bytes": JSONValue(byteCount), "commits": JSONValue(commitCount),
      "flushed": .boolean(wasFlushed),
    ]
  }
}

extension SalvageReport.Omission {
  fileprivate var json: JSONValue {
    ["record": .string(record), "key": .string(key), "error": .string("\(error)")]
  }
}

extension SalvageReport.MissingRecord {
  fileprivate var json: JSONValue { ["record": .string(record), "key": .string(key)] }
}
