import Cambium

/// The first records that lead to a record by a reference, and a link to all of them.
struct RelationList {
  private let inverse: InverseSchema
  private let state: StoreSnapshot
  private let related: RecordSchema?
  /// Holds of the records that lead to the record.
  private let condition: FieldCondition?

  private static let count = 12

  init(
    _ inverse: InverseSchema, of record: DynamicRecord, _ schema: RecordSchema,
    in state: StoreSnapshot
  ) {
    self.inverse = inverse
    self.state = state
    related = state.schema.record(named: inverse.related)
    let key = schema.keyNames.first.map { record[$0] } ?? .null
    condition = related?.field(named: inverse.reference).map { reference in
      reference.type.scalar == nil
        ? .contains(field: reference.name, key)
        : .comparison(field: reference.name, .equal, key)
    }
  }

  var html: HTML {
    element(.section) {
      if let related, let condition {
        content(related, condition)
      }
    }
  }

  private func content(_ related: RecordSchema, _ condition: FieldCondition) -> HTML {
    do {
      let total = try state.count(record: related.name, where: condition)
      var records: [DynamicRecord] = []
      try state.forEach(
        record: related.name, where: condition, limit: Self.count, stringsAsBlobs: true
      ) { records.append($0) }
      return HTML([
        element(.h2) {
          inverse.name + " "
          element(.small, "\(Figures.count(total)) · \(related.name).\(inverse.reference)")
        },
        total == 0
          ? element(.p, [.kind: "notice"], "None.")
          : RecordTable(records, related, in: state).html(),
        total <= records.count
          ? HTML([])
          : element(.p, [.kind: "links"]) {
            element(
              .a, to: Address(.records, ["type": related.name, "where": "\(condition)"]),
              "All \(Figures.count(total))")
          },
      ])
    } catch {
      return HTML([
        element(.h2, inverse.name), element(.p, [.kind: "fault"], PageFault(error).sentence),
      ])
    }
  }
}
