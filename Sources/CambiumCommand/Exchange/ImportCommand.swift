import ArgumentParser
import Cambium

/// The encoding of strings of a database that are not UTF-8.
enum TextEncoding: String, CaseIterable, ExpressibleByArgument {
  case latin1
}

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Makes a store of an export or a SQLite database, or adds records to one.",
    discussion: """
      The new store gets its name when all of it is there: an import that fails or is interrupted leaves none. \
      With --into, records are added to a store with the same schema, in one commit, and take the place of those with \
      their keys. References may lead to records that come later, or are in the store already; one that leads nowhere in \
      the end is refused.

      A SQLite database, known by its first bytes or named with --sqlite, becomes a new store: tables become records, foreign keys references, and tables that \
      hold nothing but pairs of keys lists of references; indexes and unique constraints are kept. Differences are listed \
      line by line, and the Swift that describes the store is the answer. Columns get the type that holds all of their \
      values exactly; strings that are not UTF-8 are bytes, without --encoding or --lossy. --type, --name and --key choose otherwise; a \
      value that the chosen type does not hold exactly is refused with its row, without --lossy.

      With the name of a type before the file, records of this type are read from comma-separated values (with a header), \
      a JSON array or lines of JSON, and found by their keys, or by the unique field that --id names: those that are \
      there are updated, others added. Fields that the file does not have stay as they are. A record that cannot be \
      imported is named with its line, and nothing is imported; with --rejects it is set aside.

      Example: cambium import orders.cambium orders.jsonl
      Example: cambium import notes.cambium notes.db > Notes.swift
      Example: cambium import shop.cambium shop.db --type orders.total=decimal --type orders.placed=unix-seconds --name orders=Order
      Example: cambium import shop.cambium Item items.csv --map "Item number=sku" --id sku
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(
    help:
      "The export or SQLite database to read; or the name of a type, and a file of its records. - for standard input.",
    completion: .file())
  var inputs: [String] = []

  @Option(
    help: "The SQLite database to read, also if its first bytes are not those of one.",
    completion: .file())
  var sqlite: String?

  @Option(
    name: .customLong("table"), help: "A table of the database to take along; all without it.")
  var tables: [String] = []

  @Option(help: "latin1: read the strings of the database that are not UTF-8 as Latin-1.")
  var encoding: TextEncoding?

  @Flag(
    help: """
      Replace the bytes of strings of the database that are not UTF-8; and values that the type of --type does not hold, by \
      null or by the nearest.
      """)
  var lossy = false

  @OptionGroup var choices: ImportChoiceArguments

  @Flag(help: "Add to the store, which is there already.")
  var into = false

  @Flag(help: "Replace the store if it is there.")
  var force = false

  @Option(
    help: "csv, json (an array) or jsonl (lines); by the file's name or beginning without it.")
  var format: SourceFormat?

  @Option(help: "A column and its field, column=field; column= leaves it out. By name without it.")
  var map: [String] = []

  @Option(help: "The unique field to find records by; the primary key without it.")
  var id: String?

  @Option(help: "The character between cells; a comma, or in .tsv files a tab, without it.")
  var separator: String?

  @Option(help: "Commit after so many records; all in one transaction without it.")
  var batch: Int?

  @Option(help: "A new file for records that cannot be imported.", completion: .file())
  var rejects: String?

  func validate() throws {
    if inputs.count > 2 { throw ValidationError("There is more than a type and a file.") }
    let isOfType = inputs.count == 2
    if sqlite != nil, !inputs.isEmpty {
      throw ValidationError("--sqlite is the file that is read: name no other.")
    }
    if isOfType, into || force {
      throw ValidationError("--into and --force are for exports; records are always added.")
    }
    let isSaid =
      format != nil || !map.isEmpty || id != nil || separator != nil || batch != nil
      || rejects != nil
    if !isOfType, isSaid { throw ValidationError("Name the type before the file.") }
    if let batch, batch < 1 { throw ValidationError("A batch has one record at least.") }
    if into && force { throw ValidationError("Only one of --into and --force can be meant.") }
    if into && sqlite != nil {
      throw ValidationError("A database becomes a new store: omit --into.")
    }
    if sqlite == nil && inputs.count != 1 && !tables.isEmpty {
      throw ValidationError("--table is for SQLite databases.")
    }
    if encoding != nil && lossy {
      throw ValidationError("Only one of --encoding and --lossy can be meant.")
    }
  }

  func run() throws {
    try checkOrder()
    if let database = try database() { return try importDatabase(at: database) }
    if inputs.count == 2 { return try importRecords(of: inputs[0], from: inputs[1]) }
    let lines = try LineInput(inputs.first ?? "-")
    let header = try ImportHeader(lines)
    Interruption.begin()
    let bar = ProgressBar()
    defer { bar.end() }
    let count: Int
    if into {
      let store = try arguments.openKeepingHistory()
      count = try add(lines, header, to: store, bar)
    } else {
      count = try make(lines, header, bar)
    }
    bar.end()
    StandardOutput.line(
      arguments.json
        ? "\(["records": JSONValue(count)] as JSONValue)"
        : "\(Figures.count(count, "record")) imported into \(arguments.store).")
  }

  private func add(
    _ lines: LineInput, _ header: ImportHeader, to store: PersistentStore, _ bar: ProgressBar
  ) throws -> Int {
    do {
      let found = "\(store.schema.fingerprint)"
      guard found == header.fingerprint else {
        throw CommandFailure(
          .invalid,
          "The store describes its records otherwise: its fingerprint is \(found), the export's \(header.fingerprint)."
        )
      }
      let count = try store.write { transaction in
        try ImportReader(lines, header, bar).run(into: &transaction)
      }
      try store.close()
      return count
    } catch {
      try? store.close()
      throw error
    }
  }

  private func make(_ lines: LineInput, _ header: ImportHeader, _ bar: ProgressBar) throws -> Int {
    try NewStore.make(
      at: arguments.store, replacing: force,
      hint: "Say --into to add to it, or --force to replace it.", arguments.reading
    ) { path in
      var options = arguments.writing
      options.access = .writing
      let store = try PersistentStore(at: path, model: header.model, options: options)
      return try add(lines, header, to: store, bar)
    }
  }
}
