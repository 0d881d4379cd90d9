import Cambium

/// A table of records of one type, each with a link to its page.
struct RecordTable {
  let schema: RecordSchema
  let records: [DynamicRecord]
  /// For each column that is a reference, the labels of the records that it leads to, by record.
  private var labels: [String: [[String?]]] = [:]

  /// Creates a table. If related records cannot be read, it shows their keys instead of names.
  init(_ records: [DynamicRecord], _ schema: RecordSchema, in state: StoreSnapshot) {
    self.schema = schema
    self.records = records
    for column in schema.columns {
      guard let reference = column.reference,
        let label = state.schema.record(named: reference.destination)?.labelName,
        let related = try? state.related(to: records, column.name)
      else { continue }
      labels[column.name] = zip(records, related).map { record, found in
        let keys = record[column.name].elements
        // An unchecked reference may lead nowhere, and then the labels are not in step with the keys.
        return keys.count == found.count ? found.map { $0.label(label) } : []
      }
    }
  }

  /// The table.
  ///
  /// - Parameter sorting: Returns the address of the same records sorted by a column; nil if they cannot be sorted by it.
  func html(sorting: (FieldSchema) -> Address? = { _ in nil }, order: String? = nil) -> HTML {
    element(.div, [.kind: "scroll"]) {
      element(.table, [.kind: "records"]) {
        element(.thead) {
          element(.tr) {
            for column in schema.columns { heading(of: column, sorting(column), order) }
          }
        }
        element(.tbody) {
          for place in records.indices { row(place) }
        }
      }
    }
  }

  private func heading(of column: FieldSchema, _ address: Address?, _ order: String?) -> HTML {
    let arrow = order == column.name ? " ↑" : order == "-" + column.name ? " ↓" : ""
    return element(.th, [.scope: "col", .title: column.typeText]) {
      if let address {
        element(.a, to: address, column.name + arrow)
      } else {
        column.name
      }
    }
  }

  private func row(_ place: Int) -> HTML {
    let record = records[place]
    let key = RecordKey(of: record, schema)
    let count = schema.keyNames.count
    return element(.tr) {
      for (index, column) in schema.columns.enumerated() {
        if index < count, column.reference == nil {
          element(.td, [.kind: record[column.name].isNumber ? "key number" : "key"]) {
            element(.a, to: key.address(), record[column.name].plainText.shortened(to: 60))
          }
        } else {
          Cell(
            value: record[column.name], field: column,
            labels: labels[column.name].map { $0[place] } ?? []
          ).html
        }
      }
    }
  }
}

extension DynamicRecord {
  /// The text of a field by which people know the record; nil if it has none.
  func label(_ name: String) -> String? {
    switch self[name] {
    case .null, .blob: nil
    case let value: value.plainText.isEmpty ? nil : value.plainText
    }
  }
}

extension FieldSchema {
  /// The type as it is declared, and where a reference leads.
  var typeText: String {
    "\(type)\(isOptional ? "?" : "")\(reference.map { " → \($0.destination)" } ?? "")"
  }
}
