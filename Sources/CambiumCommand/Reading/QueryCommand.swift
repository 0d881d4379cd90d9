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
      they are; --sum, --average, --min, --max and --distinct compute values of each group, or of all records. --sort \
      names such a column.

      For the next page, repeat the query with --after and the primary key of the last record.

      Example: cambium query people.cambium Person 'age >= 18' --sort -age --limit 10
      Example: cambium query orders.cambium Order 'paid == true' --group customer --sum total
      Example: cambium query orders.cambium Line --group 'month(order.date)' --sum 'price * count' --sort '-sum(price * count)' --limit 10
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The type of the records, by its stored name.")
  var type: String

  @Argument(help: "The condition. (default: all records)")
  var condition: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help:
      "A field or expression to sort by; with - before it, in descending order. May be repeated."
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

  @Option(help: "The fields to show, separated by commas.")
  var fields: String?

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
    let isOfRecords = !after.isEmpty || including != nil || fields != nil || count || explain
    if isGrouped, isOfRecords {
      throw ValidationError(
        "Groups have no records to show: only a condition, --sort, --limit, --offset, --csv and --json go with them."
      )
    }
  }

  /// True if groups are shown, or values of all records.
  private var isGrouped: Bool {
    [group, sum, average, min, max, distinct].contains { $0 != nil }
  }

  func run() throws {
    let parsed = try condition.map { try FieldCondition(parsing: $0) }
    let snapshot = try arguments.snapshot()
    let record = try snapshot.schema.type(named: type)
    let shape = RecordShape(record)
    if isGrouped { return try writeGroups(of: snapshot, where: parsed) }
    let order = try sort.map { try FieldOrder(argument: $0) }
    let after = after.isEmpty ? nil : try shape.keyValues(after)
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

  private func writeGroups(
    of snapshot: StoreSnapshot, where condition: FieldCondition?
  ) throws {
    let keys = (group ?? "").listed
    var names = keys + ["count()"]
    var aggregates: [FieldAggregate] = [.count]
    let asked: [(name: String, kind: AggregateKind, values: String?)] = [
      ("sum", .sum, sum), ("average", .average, average), ("min", .lowest, min),
      ("max", .highest, max), ("distinct", .distinct, distinct),
    ]
    for (name, kind, values) in asked {
      for value in (values ?? "").listed {
        names.append("\(name)(\(value))")
        aggregates.append(FieldAggregate(kind, try FieldExpression(parsing: value)))
      }
    }
    let groups = try snapshot.group(
      record: type, where: condition, by: try keys.map { try FieldExpression(parsing: $0) },
      computing: aggregates, sortedBy: try groupOrder(Array(names.dropFirst(keys.count))),
      limit: limit, offset: offset)
    var output = RecordOutput(form, names.map { FieldShape(computed: $0) })
    for group in groups {
      let cells = Dictionary(zip(names, group.key + group.value), uniquingKeysWith: { $1 })
      try output.add(
        ShownRecord(record: DynamicRecord(type, RecordFields(cells))))
    }
    output.finish("group")
  }

  /// Returns the order by columns, of which the names are given.
  private func groupOrder(
    _ columns: [String]
  ) throws -> [(aggregate: Int, isDescending: Bool)] {
    try sort.map { text in
      let isDescending = text.hasPrefix("-")
      let name = isDescending ? String(text.dropFirst()) : text
      guard let place = columns.firstIndex(of: name) else {
        throw CommandFailure.unknown("column", name, in: "groups", known: columns)
      }
      return (place, isDescending)
    }
  }

  /// The number of records whose related records are looked up together.
  private static let pageSize = 500

  private var form: RecordOutput.Form { arguments.json ? .json : csv ? .csv : .table }

  private func columns(of shape: RecordShape) throws -> [FieldShape] {
    guard let fields else { return shape.columns }
    return try fields.split(separator: ",").map { name in
      let name = name.drop { $0 == " " }
      guard let field = shape.fields.first(where: { $0.name == name }) else {
        throw CommandFailure.unknown(
          "field", name, in: shape.name, known: shape.fields.map(\.name))
      }
      return field
    }
  }
}

extension FieldOrder {
  /// Creates the order of "name", or of "-name".
  fileprivate init(argument: String) throws(ConditionSyntaxError) {
    let isDescending = argument.hasPrefix("-")
    let text = isDescending ? String(argument.dropFirst()) : argument
    // An expression has something that no plain name has.
    guard text.contains(where: { "(+*/".contains($0) }) else {
      self.init(field: text, isDescending: isDescending)
      return
    }
    self.init(try FieldExpression(parsing: text), isDescending: isDescending)
  }
}

extension String {
  /// The parts between commas, but for commas in parentheses, brackets or quotes.
  fileprivate var listed: [String] {
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
