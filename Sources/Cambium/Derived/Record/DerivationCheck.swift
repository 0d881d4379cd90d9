/// Checks that every derived field has the value that is computed from the present records (K5).
///
/// - Complexity: Reads all records with derived fields, and those that they are computed from once for each relation.
struct DerivationCheck {
  private let map: DerivationMap
  private let trees: TreeAccess
  private let faultsMax: Int
  private var faults: [StoreError] = []

  /// The derived fields that have other values, at most `faultsMax`.
  ///
  /// - Throws: `.io`. Damage to pages is a fault, too.
  static func faults(
    of map: DerivationMap, _ entities: [Entity], in trees: TreeAccess, atMost faultsMax: Int
  ) throws(StoreError) -> [StoreError] {
    var check = DerivationCheck(map: map, trees: trees, faultsMax: faultsMax)
    for entity in entities where map.derives(entity) {
      do throws(StoreError) { try check.check(entity) } catch {
        guard case .corrupt = error else { throw error }
        check.note(error)
      }
    }
    return check.faults
  }

  private mutating func note(_ fault: StoreError) {
    if faults.count < faultsMax { faults.append(fault) }
  }

  private mutating func check(_ entity: Entity) throws(StoreError) {
    let cursor = try trees.cursor(in: entity.rows)
    while faults.count < faultsMax, try cursor.advance() {
      let row = try entity.row(key: cursor.key, row: try cursor.value())
      let values: [Int: FieldValue]
      do throws(StoreError) {
        values = try map.values(of: row, entity, in: trees)
      } catch {
        guard case .invalidValue(_, let field, let reason) = error else { throw error }
        note(entity.layout.fault(key: cursor.key, .derivations, "\(field ?? ""): \(reason)"))
        continue
      }
      for (column, value) in values.sortedRarely(by: { $0.key < $1.key }) {
        let stored = try row.value(column)
        if stored.isSame(as: value) { continue }
        let field = entity.layout.columns[column].field
        note(
          entity.layout.fault(
            key: cursor.key, .derivations,
            "\(field.name) is \(stored), and the \(field.derivation?.description ?? "") is \(value)"
          ))
      }
    }
  }
}

extension DerivationMap {
  /// Computes all derived fields that a row has, but for times, by their places among the columns.
  ///
  /// - Throws: `.invalidValue` for a sum that its field cannot hold, or an expression without a result; `.corrupt`, `.io`.
  func values(
    of row: RowReader, _ entity: Entity, in trees: TreeAccess
  ) throws(StoreError) -> [Int: FieldValue] {
    var values: [Int: FieldValue] = [:]
    for field in own(entity) {
      if let value = try field.value(of: row) { values[field.column] = value }
    }
    for field in aggregates(entity) where field.isThere(in: row) {
      values[field.column] = try field.value(of: row.key, in: trees)
    }
    return values
  }
}
