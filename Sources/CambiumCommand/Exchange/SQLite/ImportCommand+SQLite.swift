import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension ImportCommand {
  /// The path of the database to import; nil if records or an export are to be read.
  func database() throws -> String? {
    if let sqlite { return sqlite }
    guard let path = inputs.last, FileKind(of: path) == .database else {
      let used = [
        tables.isEmpty ? nil : "--table", encoding.map { _ in "--encoding" },
        lossy ? "--lossy" : nil, inputs.count == 2 ? nil : choices.used,
      ]
      if let option = used.lazy.compactMap(\.self).first {
        throw CommandFailure(
          .usage, "\(option) is for SQLite databases, and \(inputs.last ?? "-") is none.")
      }
      return nil
    }
    guard inputs.count == 1 else {
      throw CommandFailure(
        .usage,
        "\(path) is a SQLite database, which becomes a new store. Omit \(inputs[0]), or say --table for one table."
      )
    }
    guard !into else {
      throw CommandFailure(.usage, "A database becomes a new store: omit --into.")
    }
    return path
  }

  /// Throws if a file is named where the store or a type is expected, and a store or nothing if the file is.
  func checkOrder() throws {
    let words = [arguments.store] + inputs + [sqlite].compactMap(\.self)
    guard words.count > 1, let last = words.last, last != "-" else { return }
    let kinds = words.map { FileKind(of: $0) }
    let isFileEarly = kinds.dropLast().contains { $0 == .file || $0 == .database }
    let isStoreLast = kinds[words.count - 1] == .directory || kinds[words.count - 1] == .missing
    let isStoreSecond = words.count == 3 && kinds[0] != .directory && kinds[1] == .directory
    guard isFileEarly && isStoreLast || isStoreSecond else { return }
    let sorted = words.indices.sorted { (kinds[$0].rank, $0) < (kinds[$1].rank, $1) }
    throw CommandFailure(
      .usage,
      "The store comes first and the file last, after the type if there is one. Is this what you mean: cambium import "
        + sorted.map { words[$0] }.joined(separator: " "))
  }

  /// Makes a store of a SQLite database, and prints the Swift that describes it.
  func importDatabase(at path: String) throws {
    Interruption.begin()
    let clock = ContinuousClock()
    let start = clock.now
    let bar = ProgressBar()
    defer { bar.end() }
    let database = try SQLiteDatabase(path, malformedText: malformedText)
    var mapping = try SQLiteMapping(
      database, tables: tables.isEmpty ? nil : tables, try ImportChoices(choices)
    ) { table, count in
      try Interruption.check("The import was interrupted; there is no store.")
      bar.show(nil, "Reading \(table): \(Figures.count(count)) rows")
    }
    while true {
      do {
        let (count, schema) = try write(database, mapping, bar)
        bar.end()
        return say(count, schema, mapping.notes, after: start.duration(to: clock.now))
      } catch StoreError.uniqueConflict(let record, let constraint, let key) {
        // It begins again without the constraint.
        guard mapping.leaveOut(constraint, of: record) else {
          throw StoreError.uniqueConflict(record: record, constraint: constraint, key: key)
        }
      }
    }
  }

  private var malformedText: MalformedText {
    lossy ? .lossy : encoding == .latin1 ? .latin1 : .bytes
  }

  private func write(
    _ database: SQLiteDatabase, _ mapping: SQLiteMapping, _ bar: ProgressBar
  ) throws -> (Int, Schema) {
    try NewStore.make(at: arguments.store, replacing: force, arguments.reading) { place in
      var options = arguments.writing
      options.access = .writing
      let store = try PersistentStore(at: place, model: mapping.model, options: options)
      do {
        let count = try SQLiteImport(database, mapping, bar).run(into: store)
        let schema = store.schema
        try store.close()
        return (count, schema)
      } catch {
        try? store.close()
        throw error
      }
    }
  }

  private func say(_ count: Int, _ schema: Schema, _ notes: [String], after time: Duration) {
    let text = SwiftText(schema).text
    guard !arguments.json else {
      let answer: JSONValue = [
        "records": JSONValue(count), "types": .array(schema.records.map { .string($0.name) }),
        "notes": .array(notes.map { .string($0) }), "swift": .string(text),
      ]
      return StandardOutput.line("\(answer)")
    }
    for note in notes { StandardError.line("note: \(note)") }
    let kinds = Figures.count(schema.records.count, "type")
    StandardError.line(
      "\(Figures.count(count, "record")) of \(kinds) imported into \(arguments.store) in \(Figures.time(time))."
    )
    StandardOutput.write(text)
  }
}

/// The kind of a file, to find out whether arguments are in the wrong order.
private enum FileKind {
  case directory, missing, other, file, database

  /// A pipe is not opened, since it can be read only once.
  init(of path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      self = .missing
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: self = .directory
    case S_IFREG: self = Self.isDatabase(path) ? .database : .file
    default: self = .other
    }
  }

  /// Its place among the arguments of an import.
  var rank: Int {
    switch self {
    case .directory: 0
    case .missing: 1
    case .other, .file, .database: 2
    }
  }

  /// Returns true if a file begins as each database of SQLite does that is not empty.
  private static func isDatabase(_ path: String) -> Bool {
    let mark = Array("SQLite format 3\0".utf8)
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: mark.count)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }
    return count == mark.count && bytes == mark
  }
}
