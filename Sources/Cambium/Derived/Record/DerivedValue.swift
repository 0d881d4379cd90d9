/// The expression of a derived field, ready to be computed of rows.
struct DerivedValue: Sendable {
  /// The derived field, which has the values or an aggregate of them.
  private let field: FieldSchema
  /// The name of the record that has the field.
  private let owner: String
  private let terms: ComputedTerms
  private let step: UInt32
  private let kind: ComputedKind

  /// - Parameter layout: That of the rows of which the values are computed.
  /// - Returns: nil if the field is derived of no expression; or of one that cannot be computed, which the rules of
  ///   schemas exclude.
  init?(_ field: FieldSchema, in layout: RowLayout, owner: String) {
    guard let expression = field.derivation?.expression else { return nil }
    var terms = ComputedTerms(isStrict: true)
    do throws(StoreError) {
      (step, kind) = try terms.add(expression, in: layout, nil)
    } catch { return nil }
    self.field = field
    self.owner = owner
    self.terms = terms
  }

  /// Returns the value for a row, as the field has it.
  ///
  /// - Throws: `.invalidValue` for a computation without a result, or with one that the field cannot hold; `.corrupt`.
  func value(of row: RowReader) throws(StoreError) -> FieldValue {
    let computed: ComputedValue
    do throws(StoreError) {
      computed = try terms.value(step, row)
    } catch {
      guard case .invalidQuery(_, _, let reason) = error else { throw error }
      throw refusal(reason)
    }
    guard let value = FieldValue(computed, of: kind) else {
      throw refusal("\(computed) is beyond 64 bits, for \(row.layout.text(ofKey: row.key))")
    }
    if value == .null { return .null }
    guard let result = value.converted(to: field.type) else {
      throw refusal("\(value) is no \(field.type), for \(row.layout.text(ofKey: row.key))")
    }
    return result
  }

  /// Returns the value for a row of the record that has the field.
  ///
  /// - Throws: as `value(of:)`; `.invalidValue` also for null in a field that is not optional, as computations with NaN have it.
  func ownValue(of row: RowReader) throws(StoreError) -> FieldValue {
    let value = try value(of: row)
    guard value != .null || field.isOptional else {
      throw refusal("it has no value, for \(row.layout.text(ofKey: row.key))")
    }
    return value
  }

  private func refusal(_ reason: String) -> StoreError {
    .invalidValue(
      record: owner, field: field.name,
      reason: "the \(field.derivation?.description ?? "") cannot be computed: \(reason)")
  }
}

extension RowReader {
  /// The error of a field whose expression cannot be computed of any row, which the rules of schemas exclude.
  func fault(ofDerived field: FieldSchema) -> StoreError {
    fault(.derivations, "\(field.name) is derived of fields that the row does not have")
  }
}
