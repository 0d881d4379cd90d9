/// Puts records into groups that have the same values of some expressions.
struct RecordGrouping {
  private let record: Entity
  private let terms: [Term]
  private let template: [AggregateState]
  private let encoder = KeyEncoder()
  /// The places of the groups, by the bytes of their values.
  private var places: [EncodedKey: Int] = [:]
  private var counts: [Int] = []
  /// Those of one group follow those of the group before.
  private var aggregates: [AggregateState] = []
  /// The group of the present record.
  private var key = EncodedKey()
  /// The place of that group.
  private(set) var place = 0

  /// A value by which records are grouped.
  private enum Term {
    /// A field of the record's own, whose values are compared as they lie in rows.
    case field(KeyColumn)
    case expression(RowExpression)
  }

  /// - Throws: `.invalidQuery` if values have no order, no sum, or cannot be computed.
  init(
    _ record: Entity, by values: [FieldExpression], _ aggregates: [FieldAggregate],
    in reader: RecordReader
  ) throws(StoreError) {
    self.record = record
    var terms: [Term] = []
    for value in values {
      if case .field(let name) = value, record.layout.index(named: name) != nil {
        let order = FieldOrder(field: name)
        terms.append(.field(try BoundOrder.column(of: order, in: record.layout)))
      } else {
        terms.append(.expression(try RowExpression(value, of: record, in: reader)))
      }
    }
    self.terms = terms
    var template: [AggregateState] = []
    for aggregate in aggregates {
      template.append(try AggregateState(aggregate, of: record, in: reader))
    }
    self.template = template
    if isOfAll {
      places[EncodedKey()] = 0
      counts = [0]
      self.aggregates = template
    }
  }

  /// True without values: all records are a group, even if there are none.
  var isOfAll: Bool { terms.isEmpty }

  /// Adds a record to its group. True if that is new.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`.
  mutating func add(_ key: RawSpan, _ row: RawSpan) throws(StoreError) -> Bool {
    let (layout, encoder) = (record.layout, encoder)
    let reader = try RowReader(key: key, row: row, layout: layout)
    encoder.begin()
    for term in terms {
      switch term {
      case .field(let column): try encoder.appendSorted(column, from: reader)
      case .expression(let expression):
        encoder.append(try expression.value(of: reader), isDescending: false)
      }
    }
    self.key.bytes.assign(encoder.key)
    let known = places[self.key]
    place = known ?? counts.count
    if known == nil {
      places[self.key] = place
      counts.append(0)
      aggregates += template
    }
    counts[place] &+= 1
    let first = place * template.count
    for index in first..<first + template.count { try aggregates[index].add(reader, encoder) }
    return known == nil
  }

  /// Returns the values of the group that a record is in.
  ///
  /// - Throws: `.invalidQuery` for an integer beyond 64 bits; `.corrupt`, `.io`.
  func values(of record: RowReader) throws(StoreError) -> [FieldValue] {
    var values: [FieldValue] = []
    for term in terms {
      switch term {
      case .field(let column): values.append(try record.value(Int(column.column)))
      case .expression(let expression):
        values.append(try expression.fieldValue(of: record, self.record))
      }
    }
    return values
  }

  /// The places of the groups, by their values.
  var sorted: [Int] {
    places.sorted { $0.key.bytes.rawSpan.compare($1.key.bytes.rawSpan) < 0 }.map(\.value)
  }

  /// The types of the values of groups, and of their results.
  var types: (values: [ScalarType], results: [ScalarType]) {
    let values = terms.map { term in
      switch term {
      case .field(let column):
        record.layout.columns[Int(column.column)].field.type.scalar ?? column.type
      case .expression(let expression): expression.kind.columnType
      }
    }
    return (values: values, results: template.map(\.type))
  }

  func count(_ place: Int) -> Int { counts[place] }

  /// - Throws: `.invalidQuery` for a sum of integers beyond 64 bits.
  func results(_ place: Int) throws(StoreError) -> [FieldValue] {
    var values: [FieldValue] = []
    let first = place * template.count
    for aggregate in aggregates[first..<first + template.count] {
      values.append(try aggregate.result(in: record))
    }
    return values
  }
}
