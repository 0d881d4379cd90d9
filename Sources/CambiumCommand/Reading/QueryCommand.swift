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

      --group shows a line for each group of records with the same values in some fields, and how many they are; --sum \
      adds up a field, of each group or of all records.

      For the next page, repeat the query with --after and the primary key of the last record.

      Example: cambium query people.cambium Person 'age >= 18' --sort -age --limit 10
      Example: cambium query orders.cambium Order 'paid == true' --group customer --sum total
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The type of the records, by its stored name.")
  var type: String

  @Argument(help: "The condition. (default: all records)")
  var condition: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help:
      "A field to sort by; with - before it, in descending order. May be repeated."
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

  @Option(help: "The fields to group by, separated by commas.")
  var group: String?

  @Option(help: "The fields whose sums to show, separated by commas.")
  var sum: String?

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
    let isOfRecords =
      !sort.isEmpty || limit != nil || offset != 0 || !after.isEmpty || including != nil
      || fields != nil || count || explain
    if group != nil || sum != nil, isOfRecords {
      throw ValidationError(
        "--group and --sum show all groups, sorted by their fields: only a condition, --csv and --json go with them."
      )
    }
  }

  func run() throws {
    let parsed = try condition.map { try FieldCondition(parsing: $0) }
    let snapshot = try arguments.snapshot()
    let record = try snapshot.schema.type(named: type)
    let shape = RecordShape(record)
    if group != nil || sum != nil { return try writeGroups(of: snapshot, where: parsed) }
    let order = sort.map { FieldOrder(argument: $0) }
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
    let fields = [group, sum].map { list in
      (list ?? "").split(separator: ",").map { String($0.drop { $0 == " " }) }
    }
    let groups = try snapshot.group(
      record: type, where: condition, by: fields[0], summing: fields[1])
    let names = fields[0] + ["count()"] + fields[1].map { "sum(\($0))" }
    var output = RecordOutput(form, names.map { FieldShape(computed: $0) })
    for group in groups {
      let values = group.key + [.integer(Int64(group.count))] + group.values
      let cells = Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first })
      try output.add(
        ShownRecord(record: DynamicRecord(name: type, fields: RecordFields(cells))))
    }
    output.finish("group")
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
  /// "name", or "-name".
  fileprivate init(argument: String) {
    let isDescending = argument.hasPrefix("-")
    self.init(
      field: isDescending ? String(argument.dropFirst()) : argument, isDescending: isDescending)
  }
}
