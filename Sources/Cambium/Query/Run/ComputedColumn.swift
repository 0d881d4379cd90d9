/// A value that is no column of the record, by which records are sorted.
protocol OrderTerm: AnyObject {
  /// The value as a part of keys to sort by.
  var form: KeyColumn { get }

  /// Appends the value that a record has.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`.
  func append(of record: RowReader, to key: KeyEncoder) throws(StoreError)
}

/// An expression by which records are sorted: null first, NaN after all numbers.
final class ComputedColumn: OrderTerm {
  let form: KeyColumn
  private let expression: RowExpression

  /// - Throws: `.invalidQuery` if the expression does not fit the record, or its order is said to be one that only fields
  ///   of strings have.
  init(_ order: FieldOrder, of record: Entity, in reader: RecordReader) throws(StoreError) {
    guard !order.isCaseInsensitive, order.collation == nil else {
      throw .invalidQuery(
        record: record.record.name, field: order.value.firstField,
        reason:
          "only fields are sorted without case, or by a collation; sort by lowercased() instead")
    }
    expression = try RowExpression(order.value, of: record, in: reader)
    form = KeyColumn(
      column: KeyColumn.related, place: ColumnPlace(.composite, index: 0, nullBit: nil),
      type: .binaryData, form: order.isDescending ? [.isOptional, .isDescending] : .isOptional)
  }

  func append(of record: RowReader, to key: KeyEncoder) throws(StoreError) {
    key.append(try expression.value(of: record), isDescending: form.isDescending)
  }
}
