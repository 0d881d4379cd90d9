import FoundationEssentials

@testable import Cambium
@testable import InternalTestSupport

/// Answers queries by reading everything, and sorting values as Swift does.
struct QueryOracle {
  let record: Entity
  private(set) var rows: [Row] = []

  struct Row {
    let key: Bytes
    let row: Bytes
    let values: [FieldValue]
  }

  init(_ record: Entity, _ trees: TreeAccess) throws {
    self.record = record
    let layout = record.layout
    let cursor = try trees.cursor(in: record.rows)
    var isOn = try cursor.first()
    while isOn {
      let reader = try RowReader(
        key: cursor.key, row: try cursor.value(), layout: layout)
      var values: [FieldValue] = []
      for column in record.layout.columns.indices { values.append(try reader.value(column)) }
      rows.append(Row(key: cursor.key.array(), row: try cursor.value().array(), values: values))
      isOn = try cursor.next()
    }
  }

  /// The primary keys of a query's records.
  func keys(_ query: FieldQuery) throws -> [Bytes] {
    var found = rows
    if let condition = query.condition {
      let layout = record.layout
      let bound = try RowCondition(condition, in: layout)
      found = try found.filter { row in
        let reader = try RowReader(
          key: row.key.rawSpan, row: row.row.rawSpan, layout: layout)
        return try bound.holds(for: reader)
      }
    }
    found.sort { isBefore($0, $1, query.order) }
    if let after = query.after {
      let place: Row? =
        switch after {
        case .record(let key, _): rows.first { $0.key == key }
        case .key: nil
        }
      if let place { found = found.filter { isBefore(place, $0, query.order) } }
    }
    let left = found.dropFirst(query.offset)
    return (query.limit.map { left.prefix($0) } ?? left).map(\.key)
  }

  private func isBefore(_ one: Row, _ other: Row, _ order: [FieldOrder]) -> Bool {
    for field in order {
      let column = field.field.flatMap { record.layout.index(named: $0) } ?? 0
      let result = compare(one.values[column], other.values[column], field.isCaseInsensitive)
      if result != 0 { return field.isDescending ? result > 0 : result < 0 }
    }
    return one.key.rawSpan.compare(other.key.rawSpan) < 0
  }

  private func compare(
    _ one: FieldValue, _ other: FieldValue, _ isCaseInsensitive: Bool
  ) -> Int {
    switch (one, other) {
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.boolean(let one), .boolean(let other)): return (one ? 1 : 0) - (other ? 1 : 0)
    case (.string(let one), .string(let other)) where isCaseInsensitive:
      let (one, other) = (CaseFolding.of(one), CaseFolding.of(other))
      return FieldValue.string(one).compare(to: .string(other)) ?? 0
    case (.double(let one), .double(let other)): return compare(one, other)
    case (.float(let one), .float(let other)): return compare(Double(one), Double(other))
    default: return one.compare(to: other) ?? 0
    }
  }

  private func compare(_ one: Double, _ other: Double) -> Int {
    if one.isNaN || other.isNaN { return (one.isNaN ? 1 : 0) - (other.isNaN ? 1 : 0) }
    return one < other ? -1 : one > other ? 1 : 0
  }
}

extension CaseFolding {
  fileprivate static func of(_ text: String) -> String {
    String(decoding: bytes(of: Array(text.utf8).rawSpan), as: UTF8.self)
  }
}
