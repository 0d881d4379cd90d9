import Cambium

extension ImportCommand {
  /// Makes a store of a SQLite database, and prints the Swift that describes it.
  func importDatabase(at path: String) throws {
    Interruption.begin()
    let clock = ContinuousClock()
    let start = clock.now
    let bar = ProgressBar()
    defer { bar.end() }
    let database = try SQLiteDatabase(path)
    let mapping = try SQLiteMapping(database, tables: tables.isEmpty ? nil : tables) {
      table, count in
      try Interruption.check("The import was interrupted; there is no store.")
      bar.show(nil, "Reading \(table): \(Figures.count(count)) rows")
    }
    let (count, schema) = try NewStore.make(
      at: arguments.store, replacing: force, arguments.reading
    ) { place in
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
    bar.end()
    say(count, schema, mapping.notes, after: start.duration(to: clock.now))
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
