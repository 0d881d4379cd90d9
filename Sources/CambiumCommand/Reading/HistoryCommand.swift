import ArgumentParser
import Cambium

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Shows the commits that the history keeps: of the store, a type or one record.",
    discussion: """
      The oldest commit comes first, each with its date, its author and the records that it inserted, updated and deleted. \
      Where the history keeps old values, they are shown as they were before the commit; of a blob, how long it was. With \
      --json each commit is an object in a line. Ends with status 8 if the store keeps no history.

      --follow shows the commits that are kept, and then each that a program makes, until Ctrl-C, and ends with status 0.

      Example: cambium history orders.cambium Order 17 --last 3 --follow
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The type of the records, by its stored name. (default: all types)")
  var type: String?

  @Argument(help: "The parts of the primary key of one record, as for get.")
  var key: [String] = []

  @Option(help: "Begin with the newest commits, so many of them.")
  var last: Int?

  @Flag(help: "Continue with the commits that programs make from now on.")
  var follow = false

  func validate() throws {
    if (last ?? 0) < 0 { throw ValidationError("The number of commits cannot be negative.") }
  }

  func run() throws {
    if follow { Interruption.begin() }
    let store = try arguments.open(arguments.reading)
    let start = try store.snapshot()
    guard try start.historyExtent != nil else {
      throw CommandFailure(
        .notFound,
        "\(arguments.store) keeps no history. The program that writes it has to open it with"
          + " StoreOptions.history.")
    }
    let filter = try HistoryFilter(type, key, in: start.schema)
    var commits: [HistoryCommit] = []
    try filter.forEach(in: try start.history()) { commit in
      guard let last else { return write(commit) }
      commits.append(commit)
      if commits.count - last >= 500 { commits.removeFirst(commits.count - last) }
    }
    if let last { for commit in commits.suffix(last) { write(commit) } }
    var cursor = start.historyCursor
    guard follow else { return }
    try store.follow { state in
      try filter.forEach(in: try state.history(since: cursor), write)
      cursor = state.historyCursor
    }
  }

  private func write(_ commit: HistoryCommit) {
    if arguments.json { return StandardOutput.line("\(commit.json)") }
    let author = commit.author.map { "  " + $0.inOneLine } ?? ""
    StandardOutput.line(
      Style.bold("commit \(Figures.count(commit.sequence))")
        + "  \(FieldValue.date(commit.date).cell)\(author)")
    for change in commit.changes {
      StandardOutput.line("  \(change.record.inOneLine) \(change.key.text) \(change.kind)")
      guard let old = change.old else { continue }
      let cells = old.fields.map { "\($0.key.inOneLine) \($0.value.cell)" }
      StandardOutput.line(Style.faint("    was: " + cells.joined(separator: ", ")))
    }
  }
}

/// The changes to show.
private struct HistoryFilter {
  private let record: String?
  private let key: [FieldValue]?

  init(_ type: String?, _ key: [String], in schema: Schema) throws {
    let shape = try type.map { RecordShape(try schema.type(named: $0)) }
    record = shape?.name
    self.key = key.isEmpty ? nil : try shape?.keyValues(key)
  }

  /// Calls `body` with each commit that has such changes, and with these changes alone; without a type, with all commits.
  func forEach(in history: StoreHistory, _ body: (HistoryCommit) -> Void) throws {
    while let commit = try history.next() {
      guard let record else {
        body(commit)
        continue
      }
      let changes = commit.changes.filter { change in
        change.record == record && (key == nil || change.key == key)
      }
      if !changes.isEmpty { body(commit.with(changes)) }
    }
  }
}

extension HistoryCommit {
  fileprivate func with(_ changes: [HistoryChange]) -> HistoryCommit {
    var commit = self
    commit.changes = changes
    return commit
  }

  fileprivate var json: JSONValue {
    [
      "commit": JSONValue(sequence), "date": FieldValue.date(date).json,
      "author": JSONValue(author),
      "changes": .array(
        changes.map { change -> JSONValue in
          [
            "record": .string(change.record), "key": .array(change.key.map(\.json)),
            "change": .string("\(change.kind)"), "old": change.old?.json ?? .null,
          ]
        }),
    ]
  }
}
