import ArgumentParser
import Cambium

struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Shows the records that meet a condition.",
    discussion: """
      A condition compares fields by their stored names: age >= 18 && name beginswith[c] "a", city in ["Bonn", \
      "Köln"], born < date"2000-01-01", address.street is not null. It leads over relations: author.name == "x", \
      tags.any(id == "swift"), books.count(price > 10) >= 3, and all, none, sum, minimum and maximum. Indexes are \
      used where they help.

      --including shows related records of the same state. In JSON they replace their keys: an object or null for a \
      reference, an array for a list or an inverse. In a table they are lines below each record.

      --group shows a line for each group of records with the same values of some fields or expressions, and how many \
      they are; --sum, --average, --min, --max and --distinct compute values of each group, or of all records. --having \
      and --sort name these: sum(price * count), or sum for the only one, count, or a value of --group.

      --running shows a value of each record and those before it in the order: sum(amount) or another aggregate, rank, \
      denseRank, number; with --within, for each value of a field by itself. --along follows a relation of the records \
      to their own type again and again: the parts of parts, or with a reference the manager of the manager.

      --fields takes expressions, too. --union puts rows of other types below, of which --fields names the columns: \
      --fields 'name, city' --union 'select name, city from Supplier where city is not null' --sort name.

      For the next page, repeat the query with --after and the primary key of the last record.

      Example: cambium query people.cambium Person 'age >= 18' --sort -age --limit 10
      Example: cambium query orders.cambium Order 'paid == true' --group customer --sum total
      Example: cambium query orders.cambium Line --group order.date.month --sum 'price * count' --order 'sum desc' --limit 10
      Example: cambium query orders.cambium Order --sort date --running 'sum(total)' --within customer
      Example: cambium query folders.cambium Folder 'name == "home"' --along folders --depth 3
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The type of the records, by its stored name.")
  var type: String

  @Argument(help: "The condition. (default: all records)")
  var condition: String?

  @Option(
    name: [.customLong("sort"), .customLong("order")], parsing: .unconditionalSingleValue,
    help: """
      A field or expression to sort by; with - before it, or desc after it, in descending order. May be repeated, or be a \
      list with commas.
      """
  )
  var sort: [String] = []

  @Option(help: "The most records to show.")
  var limit: Int?

  @Option(help: "The number of records to skip.")
  var offset = 0

  @Option(
    parsing: .unconditionalSingleValue,
    help: "The primary key of the record to begin after. Repeat it for each part of the key.")
  var after: [String] = []

  @Option(
    help: "References and inverses whose records to show, separated by commas: author.country,tags."
  )
  var including: String?

  @Option(help: "The fields and expressions to show, separated by commas.")
  var fields: String?

  @Option(
    help:
      "A query of other records to show below: select name, city from Supplier. May be repeated.")
  var union: [String] = []

  @Flag(help: "Show each row of --fields once.")
  var unique = false

  @Flag(
    help: """
      Write comma-separated values. Strings are written unchanged, and a spreadsheet may run one that \
      begins with =, +, - or @ as a formula: import data of strangers as text.
      """)
  var csv = false

  @Flag(help: "Only print the number of records.")
  var count = false

  @Option(help: "The fields and expressions to group by, separated by commas.")
  var group: String?

  @Option(help: "The fields and expressions whose sums to show, separated by commas.")
  var sum: String?

  @Option(help: "Those whose averages to show.")
  var average: String?

  @Option(help: "Those whose lowest values to show.")
  var min: String?

  @Option(help: "Those whose highest values to show.")
  var max: String?

  @Option(help: "Those whose numbers of different values to show.")
  var distinct: String?

  @Option(help: "A condition on groups, or on values of --running: sum > 100 && count > 3.")
  var having: String?

  @Option(
    help:
      "Values of the records up to each one: sum(price), rank, denseRank or number, with commas.")
  var running: String?

  @Option(help: "The fields and expressions of which each value has running values of its own.")
  var within: String?

  @Option(help: "The relation to follow from the records, again and again.")
  var along: String?

  @Option(help: "The greatest depth to which --along is followed.")
  var depth: Int?

  @Flag(help: "Only explain how the records are found.")
  var explain = false

  func validate() throws {
    if (limit ?? 0) < 0 || offset < 0 {
      throw ValidationError("Numbers of records cannot be negative.")
    }
    if csv && arguments.json { throw ValidationError("Use --csv or --json, not both.") }
    if csv && including != nil {
      throw ValidationError("Related records cannot be shown as comma-separated values.")
    }
    if count && !after.isEmpty {
      throw ValidationError("--count counts all records, also those before --after.")
    }
    if (depth ?? 0) < 0 { throw ValidationError("A depth cannot be negative.") }
    try validateTables()
  }

  func run() throws {
    let parsed = try condition.map { try FieldCondition(parsing: $0) }
    let snapshot = try arguments.snapshot()
    let record = try snapshot.schema.type(named: type)
    let shape = RecordShape(record)
    if isGrouped { return try writeGroups(of: snapshot, where: parsed) }
    if let along { return try writeReached(shape, of: snapshot, where: parsed, along: along) }
    let orders = try orderArguments.map { try $0.order }
    if running != nil {
      return try writeRunning(shape, of: snapshot, where: parsed, sortedBy: orders)
    }
    let after = after.isEmpty ? nil : try shape.keyValues(after)
    if isSelection(of: shape) {
      return try writeRows(
        shape, of: snapshot, where: parsed, sortedBy: orders, after: after)
    }
    let order = orders.map { FieldOrder($0) }
    let relations = try including.map {
      try IncludedRelation.relations($0, of: record, in: snapshot.schema)
    }
    if explain {
      let explanation = try snapshot.explain(
        record: type, where: parsed, sortedBy: order, limit: limit, offset: offset, after: after,
        running: true)
      return StandardOutput.line(arguments.json ? "\(explanation.json)" : "\(explanation)")
    }
    if count {
      return StandardOutput.line("\(try snapshot.count(record: type, where: parsed))")
    }
    let columns = try columns(of: shape)
    var output = RecordOutput(form, columns)
    var page: [DynamicRecord] = []
    func writePage() throws {
      let shown = try snapshot.including(relations ?? [], page, stringsAsBlobs: true)
      for record in shown { try output.add(record) }
      page.removeAll(keepingCapacity: true)
    }
    try snapshot.forEach(
      record: type, where: parsed, sortedBy: order, limit: limit, offset: offset, after: after,
      fields: relations == nil && fields != nil ? columns.map(\.name) : nil, stringsAsBlobs: true
    ) { record in
      page.append(record)
      if page.count == (relations == nil ? 1 : Self.pageSize) { try writePage() }
    }
    try writePage()
    output.finish()
  }

  /// The number of records whose related records are looked up together.
  private static let pageSize = 500

  var form: RecordOutput.Form { arguments.json ? .json : csv ? .csv : .table }

  /// The columns of the fields to show.
  func columns(of shape: RecordShape) throws -> [FieldShape] {
    guard let fields else { return shape.columns }
    return try fields.listed.map { name in
      guard let field = shape.fields.first(where: { $0.name == name }) else {
        throw CommandFailure.unknown(
          "field", name, in: shape.name, known: shape.fields.map(\.name))
      }
      return field
    }
  }
}

extension String {
  /// The parts between commas, but for commas in parentheses, brackets or quotes.
  var listed: [String] {
    var parts: [String] = []
    var part = ""
    var depth = 0
    var isQuoted = false
    for character in self {
      if character == "\"" { isQuoted.toggle() }
      if !isQuoted, "([{".contains(character) { depth += 1 }
      if !isQuoted, ")]}".contains(character) { depth -= 1 }
      if character == ",", !isQuoted, depth == 0 {
        parts.append(part)
        part = ""
      } else if !(character == " " && part.isEmpty) {
        part.append(character)
      }
    }
    if !part.isEmpty { parts.append(part) }
    return parts
  }
}
