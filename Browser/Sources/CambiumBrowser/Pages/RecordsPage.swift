import Cambium

/// The records of a type that meet a condition, a page at a time.
struct RecordsPage {
  private let state: StoreSnapshot
  private let schema: RecordSchema
  private let query: RecordsQuery
  private let request: BrowserRequest

  /// The records of a page.
  static let count = 50

  init(_ state: StoreSnapshot, _ request: BrowserRequest) throws {
    self.state = state
    self.request = request
    schema = try state.schema.type(of: request)
    query = RecordsQuery(request, schema)
  }

  /// The page. An error of the condition is shown above the form, so that it can be corrected; of damaged records, those are
  /// shown that come before the damage.
  var page: Page {
    var records: [DynamicRecord] = []
    var total: Int?
    var fault: PageFault?
    do {
      let condition = try query.condition
      total = try state.count(record: schema.name, where: condition)
      try state.forEach(
        record: schema.name, where: condition, sortedBy: query.order, limit: Self.count,
        offset: query.offset, stringsAsBlobs: true
      ) { records.append($0) }
    } catch { fault = PageFault(error) }
    return Page(schema.name, subtitle(total), type: schema.name) {
      QueryForm(query: query, schema: schema).html
      if let fault { element(.p, [.kind: "fault"], fault.sentence) }
      if request.value("explain") != nil, fault == nil { explanation }
      if records.isEmpty, fault == nil {
        element(.p, [.kind: "notice"], "No record meets the condition.")
      }
      if !records.isEmpty {
        RecordTable(records, schema, in: state).html(
          sorting: { query.sorting(by: $0) }, order: query.sort)
        pager(total ?? 0, shown: records.count)
      }
    }
  }

  private func subtitle(_ total: Int?) -> String {
    guard let total else { return "" }
    let condition =
      query.text == nil ? "" : total == 1 ? " meets the condition" : " meet the condition"
    return Figures.count(total, "record") + condition
  }

  private var explanation: HTML {
    let text: String
    do {
      text =
        "\(try state.explain(record: schema.name, where: try query.condition, sortedBy: query.order, limit: Self.count, offset: query.offset, running: true))"
    } catch { text = PageFault(error).sentence }
    return element(.pre, [.kind: "explanation"], text)
  }

  private func pager(_ total: Int, shown: Int) -> HTML {
    let first = query.offset + 1
    return element(.nav, [.kind: "pager", .label: "Pages of records"]) {
      if query.offset > 0 {
        element(.a, to: query.address(offset: max(0, query.offset - Self.count)), "← Previous")
      }
      element(
        .span,
        "\(Figures.count(first)) to \(Figures.count(query.offset + shown)) of \(Figures.count(total))"
      )
      if query.offset + shown < total {
        element(.a, to: query.address(offset: query.offset + Self.count), "Next →")
      }
      element(.a, [.kind: "aside"], to: query.address(offset: query.offset).with("explain", "1")) {
        "How it is found"
      }
    }
  }
}

/// The condition, the order and the place of a page of records, as its address has them.
struct RecordsQuery {
  let type: String
  /// The text of the condition; nil for all records.
  let text: String?
  /// The name of a field, or the same after a minus for the opposite order; nil for the order of primary keys.
  let sort: String?
  let offset: Int

  init(_ request: BrowserRequest, _ schema: RecordSchema) {
    type = schema.name
    text = request.value("where")
    sort = request.value("sort")
    offset = request.number("offset", atLeast: 0)
  }

  /// - Throws: `ConditionSyntaxError`.
  var condition: FieldCondition? {
    get throws { try text.map { try FieldCondition(parsing: $0) } }
  }

  var order: [FieldOrder] {
    guard let sort else { return [] }
    let isDescending = sort.hasPrefix("-")
    return [
      FieldOrder(field: isDescending ? String(sort.dropFirst()) : sort, isDescending: isDescending)
    ]
  }

  func address(offset: Int = 0) -> Address {
    Address(.records, ["type": type]).with("where", text).with("sort", sort)
      .with("offset", offset == 0 ? nil : "\(offset)")
  }

  /// Returns the address of the records sorted by a column, in the opposite order if they are sorted by it already; nil if it
  /// has no order.
  func sorting(by column: FieldSchema) -> Address? {
    guard column.type.scalar != nil else { return nil }
    let next = sort == column.name ? "-" + column.name : column.name
    return Address(.records, ["type": type]).with("where", text).with("sort", next)
  }
}

/// The form for a condition, and the fields by which records can be grouped.
struct QueryForm {
  let query: RecordsQuery
  let schema: RecordSchema

  var html: HTML {
    element(.form, [.method: "get", .kind: "query"], to: Address(.records)) {
      element(.input, [.type: "hidden", .name: "type", .value: schema.name])
      if let sort = query.sort {
        element(.input, [.type: "hidden", .name: "sort", .value: sort])
      }
      element(.label, [.target: "where"], "where")
      element(
        .input,
        [
          .id: "where", .name: "where", .value: query.text ?? "", .placeholder: example,
          .autocomplete: "off", .spellcheck: "false",
        ])
      element(.button, [.type: "submit"], "Find")
      sections
    }
  }

  private var sections: HTML {
    let names = schema.fields.filter { $0.type.scalar != nil }.map(\.name)
      .filter { schema.keyNames != [$0] }
    return element(.span, [.kind: "sections"]) {
      if !names.isEmpty { element(.small, "sections by") }
      for name in names.prefix(8) {
        element(
          .a,
          to: Address(.sections, ["type": schema.name, "by": name]).with("where", query.text), name)
      }
    }
  }

  /// A condition that fits the type.
  private var example: String {
    for field in schema.columns where field.reference == nil {
      switch field.type.scalar {
      case .string: return "\(field.name) beginswith[c] \"a\""
      case .int8, .int16, .int32, .int64, .double, .float: return "\(field.name) > 10"
      default: continue
      }
    }
    return "true"
  }
}
