/// A value of the rows of a selection: as the query has it, and ready to be computed.
struct SelectedValue {
  let expression: FieldExpression
  let value: RowExpression
}

/// A column of a selection by which its rows are sorted, or compared.
struct ColumnOrder: Hashable, Sendable {
  /// Its place among the columns, from 0.
  let column: Int
  var isDescending = false
  var isCaseInsensitive = false
  var collation: Collation?

  /// True if strings are not sorted by their own bytes.
  var isOfText: Bool { isCaseInsensitive || collation != nil }
}

/// Makes keys of some columns of a selection's records: bytes that sort as the values do.
///
/// They do so among all queries of a union, as sort keys of the records themselves do not: an integer of a field takes as many
/// bytes as its type, and one that is computed takes sixteen.
struct ColumnKeys {
  private let columns: [(order: ColumnOrder, value: RowExpression)]
  private let record: Entity
  private let encoder = KeyEncoder()

  /// - Parameters:
  ///   - order: The columns that keys have, the first one first.
  ///   - values: All columns of the selection.
  /// - Throws: `.invalidQuery` if the values of a column do not have the order.
  init(
    _ order: [ColumnOrder], among values: [SelectedValue], of record: Entity
  ) throws(StoreError) {
    self.record = record
    var columns: [(order: ColumnOrder, value: RowExpression)] = []
    for var part in order {
      guard values.indices.contains(part.column) else {
        throw .invalidQuery(
          record: record.record.name, field: nil,
          reason: "a union is sorted by a column that only another one has")
      }
      let value = values[part.column]
      if part.isOfText { try value.checkTextOrder(in: record) }
      if let collation = part.collation {
        part.collation = record.record.collations.providing(collation)
      }
      columns.append((order: part, value: value.value))
    }
    self.columns = columns
  }

  var isEmpty: Bool { columns.isEmpty }

  /// The kinds of the values in keys.
  var kinds: [ComputedKind] { columns.map { $0.value.kind } }

  /// Returns the key of a record.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.missingCollation`, `.corrupt`, `.io`.
  func key(of row: RowReader) throws(StoreError) -> [UInt8] {
    let encoder = encoder
    encoder.begin()
    for (order, value) in columns {
      encoder.append(
        try sorted(try value.value(of: row), by: order), isDescending: order.isDescending)
    }
    return encoder.key.array()
  }

  /// Returns the value by which a value of a column is sorted.
  private func sorted(
    _ value: ComputedValue, by order: ColumnOrder
  ) throws(StoreError) -> ComputedValue {
    guard order.isOfText, case .bytes(let string) = value else { return value }
    guard let collation = order.collation else {
      return .bytes(CaseFolding.bytes(of: string.rawSpan))
    }
    let reference = CollationReference(collation)
    guard let sortKey = reference.sortKey(of: string.rawSpan) else {
      throw reference.missing(in: record.record.name)
    }
    return .bytes(sortKey)
  }
}

extension SelectedValue {
  /// - Throws: `.invalidQuery` if values cannot be sorted without case, or by a collation.
  fileprivate func checkTextOrder(in record: Entity) throws(StoreError) {
    let isField =
      switch expression {
      case .field, .value: true
      default: false
      }
    guard isField, value.kind == .string || value.kind == .null else {
      throw .invalidQuery(
        record: record.record.name, field: expression.firstField,
        reason: "only fields of strings are sorted without case, or by a collation")
    }
  }
}
