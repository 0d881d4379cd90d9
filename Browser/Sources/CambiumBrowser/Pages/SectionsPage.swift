import Cambium

/// The sections of a type's records by the values of a field, with the number of records in each.
struct SectionsPage {
  private let schema: RecordSchema
  private let field: FieldSchema
  private let query: RecordsQuery
  private let groups: [RecordGroup<[FieldValue], [FieldValue]>]
  private let labels: [String?]

  /// The sections of a page.
  private static let count = 200

  init(_ state: StoreSnapshot, _ request: BrowserRequest) throws {
    schema = try state.schema.type(of: request)
    let name = request.value("by") ?? ""
    guard let field = schema.field(named: name) else {
      throw PageFault(404, "\(schema.name) has no field called “\(name)”.")
    }
    self.field = field
    query = RecordsQuery(request, schema)
    groups = try state.group(record: schema.name, where: try query.condition, by: [name])
    let shown = groups.dropFirst(query.offset).prefix(Self.count)
    labels = try Self.labels(of: shown.map { $0.key[0] }, field, in: state)
  }

  /// Returns the texts by which people know the records that a reference leads to.
  private static func labels(
    of keys: [FieldValue], _ field: FieldSchema, in state: StoreSnapshot
  ) throws -> [String?] {
    guard let reference = field.reference,
      let schema = state.schema.record(named: reference.destination), let name = schema.labelName
    else { return keys.map { _ in nil } }
    let condition = FieldCondition.isIn(field: schema.keyNames[0], keys.filter { $0 != .null })
    var labels: [FieldValue: String] = [:]
    try state.forEach(record: schema.name, where: condition) { record in
      labels[record[schema.keyNames[0]]] = record.label(name)
    }
    return keys.map { labels[$0] }
  }

  var page: Page {
    let total = groups.reduce(0) { $0 + $1.count }
    let shown = Array(groups.dropFirst(query.offset).prefix(Self.count))
    let largest = groups.map(\.count).max() ?? 1
    return Page(
      "\(schema.name) by \(field.name)",
      "\(Figures.count(total, "record")) in \(Figures.count(groups.count, "section"))",
      type: schema.name
    ) {
      QueryForm(query: query, schema: schema).html
      textTable(
        [field.name, "records", ""], numbers: [1],
        zip(shown, labels).map { group, label in
          [
            element(.a, to: address(of: group.key[0])) {
              label ?? (group.key[0] == .null ? "none" : group.key[0].plainText.shortened(to: 90))
            },
            HTML(Figures.count(group.count)), bar(Double(group.count) / Double(largest)),
          ]
        })
      pager(shown: shown.count)
    }
  }

  /// The address of the records of a section.
  private func address(of value: FieldValue) -> Address {
    let section = FieldCondition.comparison(field: field.name, .equal, value)
    let text = query.text.map { "(\($0)) && \(section)" } ?? "\(section)"
    return Address(.records, ["type": schema.name, "where": text])
  }

  private func bar(_ share: Double) -> HTML {
    let width = Figures.decimal(max(1, share * 160))
    return element(.svg, [.kind: "bar", .width: "160", .height: "10"]) {
      element(.rect, [.width: width, .height: "10"])
    }
  }

  private func pager(shown: Int) -> HTML {
    func address(_ offset: Int) -> Address {
      Address(.sections, ["type": schema.name, "by": field.name]).with("where", query.text)
        .with("offset", "\(offset)")
    }
    return element(.nav, [.kind: "pager", .label: "Pages of sections"]) {
      if query.offset > 0 {
        element(.a, to: address(max(0, query.offset - Self.count)), "← Previous")
      }
      if query.offset + shown < groups.count {
        element(.a, to: address(query.offset + Self.count), "Next →")
      }
    }
  }
}
