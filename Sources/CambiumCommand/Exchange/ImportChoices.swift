import ArgumentParser
import Cambium

/// The options of an import that choose types, names and keys.
struct ImportChoiceArguments: ParsableArguments {
  @Option(
    name: .customLong("type"),
    help: ArgumentHelp(
      """
      The type of a column of the database, as Swift describes it, such as decimal or uuid; or the kind of numbers that its \
      dates are: \(DateNumber.allCases.map(\.rawValue).joined(separator: ", ")). For comma-separated values and JSON, \
      column= and such a kind. May be repeated.
      """, valueName: "table.column=type"))
  var types: [String] = []

  @Option(
    name: .customLong("name"),
    help: ArgumentHelp(
      "The name of the type that a table becomes, or, as table.column=name, of a field. May be repeated.",
      valueName: "table=name"))
  var names: [String] = []

  @Option(
    name: .customLong("key"),
    help: ArgumentHelp(
      "The primary key of a table: a column, or several with commas. May be repeated.",
      valueName: "table=columns"))
  var keys: [String] = []

  @Option(
    name: .customLong("choices"),
    help: """
      A file of more of them in JSON: {"types": {"t.amount": "decimal"}, "names": {"t": "Order"}, \
      "keys": {"t": ["year", "number"]}}.
      """,
    completion: .file())
  var file: String?

  /// The option that is used; nil for none.
  var used: String? {
    if !types.isEmpty { return "--type" }
    if !names.isEmpty { return "--name" }
    if !keys.isEmpty { return "--key" }
    return file == nil ? nil : "--choices"
  }
}

/// The types, names and keys that the caller chooses for an import, as they are stated: in options and in a file.
struct ImportChoices {
  /// Of columns, as `table.column`; as `column` for a file that has no tables.
  private(set) var types: [(place: String, reading: ColumnReading)] = []
  /// Of tables, and of columns as `table.column`.
  private(set) var names: [(place: String, name: String)] = []
  /// The columns of keys, by table.
  private(set) var keys: [(table: String, columns: [String])] = []

  /// - Throws: `CommandFailure` for a type that does not exist, an option without `=`, or a file that cannot be read.
  init(_ arguments: ImportChoiceArguments) throws {
    if let path = arguments.file { try read(path) }
    for text in arguments.types {
      let (place, type) = try Self.pair(text, "--type table.column=type")
      try add(type: type, of: place)
    }
    for text in arguments.names { names.append(try Self.pair(text, "--name table=name")) }
    for text in arguments.keys {
      let (table, columns) = try Self.pair(text, "--key table=column,column")
      keys.append((table, columns.split(separator: ",").map { String($0) }))
    }
  }

  /// Divides `place=value` at the last equals sign.
  ///
  /// - Parameter form: The form that it should have, for the error.
  static func pair(_ text: String, _ form: String) throws -> (String, String) {
    guard let equal = text.lastIndex(of: "="), equal > text.startIndex else {
      throw CommandFailure(.usage, "\(text) has no =. Say \(form).")
    }
    return (String(text[..<equal]), String(text[text.index(after: equal)...]))
  }

  private mutating func add(type: String, of place: String) throws {
    guard let reading = ColumnReading(type) else {
      throw CommandFailure.unknown("type", type, in: "Cambium", known: ColumnReading.names)
    }
    types.append((place, reading))
  }
}

// MARK: - The file

extension ImportChoices {
  private mutating func read(_ path: String) throws {
    let lines = try LineInput(path)
    var bytes: [UInt8] = []
    while let chunk = try lines.nextChunk() { bytes += chunk }
    do {
      for member in try Self.members(try JSONParser.parse(bytes), "the file") {
        try read(member)
      }
    } catch let fault as JSONFault {
      throw CommandFailure(.invalid, "\(path): \(fault).", ErrorDetail(of: fault))
    }
  }

  private mutating func read(_ member: JSONValue.Member) throws {
    let known = ["types", "names", "keys"]
    guard known.contains(member.name) else {
      throw JSONFault(
        reason: "there are no \(member.name), but \(known.joined(separator: ", "))")
    }
    for choice in try Self.members(member.value, member.name) {
      switch member.name {
      case "types": try add(type: try Self.text(choice.value, choice.name), of: choice.name)
      case "names": names.append((choice.name, try Self.text(choice.value, choice.name)))
      default:
        var columns = [choice.value]
        if case .array(let several) = choice.value { columns = several }
        keys.append((choice.name, try columns.map { try Self.text($0, choice.name) }))
      }
    }
  }

  private static func members(
    _ value: JSONValue, _ name: String
  ) throws(JSONFault) -> [JSONValue.Member] {
    if case .object(let members) = value { return members }
    throw JSONFault(reason: "\(name) is no object")
  }

  private static func text(_ value: JSONValue, _ name: String) throws(JSONFault) -> String {
    if let text = value.text { return text }
    throw JSONFault(reason: "\(name): \(value) is no string")
  }
}

// MARK: - Files without tables

extension ImportChoices {
  /// The kinds of numbers that the dates of a file's columns are.
  ///
  /// - Throws: `CommandFailure` if something else is chosen: the rest is as in the store.
  func dates() throws -> [String: DateNumber] {
    guard names.isEmpty, keys.isEmpty else {
      throw CommandFailure(
        .usage,
        names.isEmpty
          ? "The key is that of the store. --id names another unique field to find records by."
          : "The names are those of the store. Say --map column=field.")
    }
    var dates: [String: DateNumber] = [:]
    for (column, reading) in types {
      guard case .date(let number) = reading else {
        let known = DateNumber.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandFailure(
          .usage, "The types are those of the store. --type says of dates that they are \(known).")
      }
      guard dates.updateValue(number, forKey: column) == nil else {
        throw Self.twice("type", column)
      }
    }
    return dates
  }
}

// MARK: - Tables

extension ImportChoices {
  /// Applies the choices to tables and their columns.
  ///
  /// - Throws: `CommandFailure` for tables and columns that do not exist, and for names that cannot be.
  func apply(to tables: inout [SQLiteTable]) throws {
    for (place, reading) in types {
      guard let (table, column) = Self.column(place, in: tables) else {
        throw Self.unknown(place, in: tables)
      }
      guard tables[table].columns[column].reading == nil else {
        throw Self.twice("type", place)
      }
      tables[table].columns[column].reading = reading
    }
    for (place, name) in names { try Self.apply(name, to: place, in: &tables) }
    for (table, columns) in keys { try Self.apply(columns, to: table, in: &tables) }
    for table in tables {
      try Self.checkNames(
        table.columns.map { ($0.name, $0.chosenName) }, "columns", of: "The table \(table.name)")
    }
  }

  private static func apply(
    _ name: String, to place: String, in tables: inout [SQLiteTable]
  ) throws {
    guard !name.isEmpty, name.asFieldName(besides: Set<String>()) == name else {
      throw CommandFailure(
        .usage,
        "\(place) cannot be called \"\(name)\". A name has up to 200 bytes, and no dots.")
    }
    if let table = tables.firstIndex(where: { $0.name.isName(place) }) {
      guard tables[table].chosenName == nil else { throw twice("name", place) }
      tables[table].chosenName = name
    } else if let (table, column) = column(place, in: tables) {
      guard tables[table].columns[column].chosenName == nil else { throw twice("name", place) }
      tables[table].columns[column].chosenName = name
    } else {
      throw unknown(place, in: tables)
    }
  }

  private static func apply(
    _ columns: [String], to name: String, in tables: inout [SQLiteTable]
  ) throws {
    guard let place = tables.firstIndex(where: { $0.name.isName(name) }) else {
      throw CommandFailure.unknown(
        "table", name, in: "The database", known: tables.map(\.name))
    }
    guard tables[place].chosenKey == nil else { throw twice("key", name) }
    var key: [Int] = []
    for column in columns {
      guard let number = tables[place].column(named: column) else {
        throw tables[place].unknown(column)
      }
      guard !key.contains(number) else {
        throw CommandFailure(.usage, "The column \(column) is twice in the key of \(name).")
      }
      key.append(number)
    }
    guard !key.isEmpty else {
      throw CommandFailure(.usage, "The key of \(name) has no columns.")
    }
    tables[place].choose(key: key)
  }

  /// Finds the column that is meant by `table.column`. Both names may have dots.
  private static func column(
    _ place: String, in tables: [SQLiteTable]
  ) -> (table: Int, column: Int)? {
    for (number, table) in tables.enumerated() {
      if let rest = table.rest(of: place), let column = table.column(named: rest) {
        return (number, column)
      }
    }
    return nil
  }

  private static func unknown(_ place: String, in tables: [SQLiteTable]) -> CommandFailure {
    let owners = tables.filter { $0.rest(of: place) != nil }
    if let owner = owners.max(by: { $0.name.utf8.count < $1.name.utf8.count }) {
      return owner.unknown(owner.rest(of: place) ?? "")
    }
    if let table = tables.first(where: { $0.name.isName(place) }) {
      return CommandFailure(
        .usage, "\(place) is a table. Say \(place).\(table.columns.first?.name ?? "column").")
    }
    return CommandFailure.unknown(
      "table", place.prefix { $0 != "." }, in: "The database", known: tables.map(\.name))
  }

  private static func twice(_ kind: String, _ place: String) -> CommandFailure {
    CommandFailure(.usage, "The \(kind) of \(place) is chosen twice.")
  }

  /// Throws if a name that was chosen is that of another table or column.
  ///
  /// - Parameters:
  ///   - names: The names of tables or columns in the database, and those that were chosen.
  ///   - kind: "tables", "columns".
  ///   - owner: The owner of the choices, with a capital letter.
  static func checkNames(
    _ names: [(original: String, chosen: String?)], _ kind: String, of owner: String
  ) throws {
    guard names.contains(where: { $0.chosen != nil }) else { return }
    var known: [String: (original: String, isChosen: Bool)] = [:]
    for (original, chosen) in names {
      let name = chosen ?? original.asFieldName(besides: Set<String>())
      let other = known.updateValue((original, chosen != nil), forKey: name)
      guard let other, other.isChosen || chosen != nil else { continue }
      throw CommandFailure(
        .usage,
        "\(owner) has two \(kind) that would be called \"\(name)\": \(other.original) and \(original)."
          + " Choose another name with --name.")
    }
  }
}

extension SQLiteTable {
  /// Returns what follows the name of the table and a dot; nil if a text does not begin so.
  fileprivate func rest(of place: String) -> String? {
    let beginning = name.sqlFolded + "."
    guard place.sqlFolded.utf8.starts(with: beginning.utf8) else { return nil }
    return String(decoding: place.utf8.dropFirst(beginning.utf8.count), as: UTF8.self)
  }

  fileprivate func unknown(_ column: String) -> CommandFailure {
    CommandFailure.unknown(
      "column", column, in: "The table \(name)", known: columns.map(\.name))
  }

  /// Chooses the primary key. The declared one remains a constraint.
  fileprivate mutating func choose(key: [Int]) {
    chosenKey = key
    guard !primaryKey.isEmpty, Set(primaryKey) != Set(key) else { return }
    indexes.append(
      Index(
        name: "key", isUnique: true, isPartial: false,
        parts: primaryKey.map {
          Index.Part(column: columns[$0].name, isDescending: false, isCaseInsensitive: false)
        }))
  }
}
