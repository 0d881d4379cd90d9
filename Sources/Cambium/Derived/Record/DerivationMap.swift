/// The derived fields of an open state, by the records that have them and by those that they are computed from.
final class DerivationMap: Sendable {
  /// By the place of a record: the fields that are computed from its own values, or from the time.
  private let own: [[OwnDerivation]]
  /// By the place of a record: the fields that are computed from others that lead to it.
  private let aggregates: [[Aggregate]]
  /// By the place of a record: the fields of those that it leads to.
  private let feeds: [[Feed]]
  /// By the place of a record: true if no two records may have the same derived string.
  private let hasUnique: [Bool]
  /// By the place of a record: the fields that sequences number.
  private let sequences: [[SequenceColumn]]

  /// The fields that change with the records of one relation.
  struct Feed: Sendable {
    let link: Link
    let aggregates: [Aggregate]
  }

  /// - Parameter entities: In the order of the schema's records.
  /// - Returns: nil if no field is derived.
  init?(_ entities: [Entity], _ relations: RelationMap?) {
    var own: [[OwnDerivation]] = []
    var aggregates: [[Aggregate]] = []
    var sequences: [[SequenceColumn]] = []
    for entity in entities {
      let columns = entity.layout.columns.indices
      sequences.append(columns.compactMap { SequenceColumn($0, of: entity.layout) })
      own.append(columns.compactMap { OwnDerivation($0, of: entity.layout) })
      aggregates.append(columns.compactMap { Aggregate($0, of: entity, relations) })
    }
    if [
      own.allSatisfy(\.isEmpty), aggregates.allSatisfy(\.isEmpty), sequences.allSatisfy(\.isEmpty),
    ]
    .allSatisfy(\.self) {
      return nil
    }
    self.own = own
    self.sequences = sequences
    self.aggregates = aggregates
    let all = aggregates.joined()
    feeds = entities.map { source in
      (relations?.links(from: source) ?? []).compactMap { link in
        let fed = all.filter { $0.link === link }
        return fed.isEmpty ? nil : Feed(link: link, aggregates: fed)
      }
    }
    hasUnique = entities.map { entity in
      entity.record.indexes.contains { index in
        index.isUnique
          && index.parts.contains {
            entity.record.field($0.field)?.derivation?.kind.isOfText ?? false
          }
      }
    }
  }

  /// The fields of a record that are computed from its own values, or from the time.
  func own(_ entity: Entity) -> [OwnDerivation] { own[entity.place] }

  /// The fields of a record that are computed from others that lead to it.
  func aggregates(_ entity: Entity) -> [Aggregate] { aggregates[entity.place] }

  /// The fields of others that change with such a record.
  func feeds(of entity: Entity) -> [Feed] { feeds[entity.place] }

  /// True if such a record has derived fields.
  func derives(_ entity: Entity) -> Bool {
    !own[entity.place].isEmpty || !aggregates[entity.place].isEmpty
  }

  /// The fields of a record that sequences number.
  func sequences(_ entity: Entity) -> [SequenceColumn] { sequences[entity.place] }

  /// True if no two such records may have the same derived string.
  func hasUnique(_ entity: Entity) -> Bool { hasUnique[entity.place] }
}

/// A column whose values the store computes.
protocol DerivedColumn: Sendable {
  /// The bit that is set in rows without the column, since a composite that it is in is null; nil if all rows have it.
  var absentBit: Int? { get }
}

extension DerivedColumn {
  /// Returns true unless a composite that the column is in, as that of a kind, is null in a row: then there is no value.
  @inline(__always)
  func isThere(in row: borrowing RowReader) -> Bool {
    guard let absentBit else { return true }
    return !row.row.isNull(bit: absentBit)
  }
}

extension RowLayout {
  /// The bit of the innermost optional composite that a column is in; it is set as well where one around that is null.
  func absentBit(of column: Int) -> Int? {
    guard let composite = columns[column].field.composite.flatMap({ index(number: $0) }) else {
      return nil
    }
    return columns[composite].place.nullBit
  }
}

/// A derived field that is computed from its own record, or from the time.
final class OwnDerivation: DerivedColumn {
  /// The place among the columns.
  let column: Int
  let field: FieldSchema
  let kind: DerivationSchema.Kind
  /// The place of the column whose value is used; nil for none.
  let source: Int?
  /// The expression whose values it has; nil for other kinds.
  let expression: DerivedValue?
  let absentBit: Int?

  fileprivate init?(_ column: Int, of layout: RowLayout) {
    guard let derivation = layout.columns[column].field.derivation, !derivation.isAggregate,
      derivation.kind != .sequence
    else { return nil }
    self.column = column
    field = layout.columns[column].field
    kind = derivation.kind
    expression = DerivedValue(field, in: layout, owner: layout.record.name)
    absentBit = layout.absentBit(of: column)
    source =
      layout.index(number: derivation.sourceNumber)
      ?? layout.index(number: derivation.referenceNumber)
  }

  /// The value for a row; nil if that does not follow from it, or the row has no such field.
  ///
  /// - Throws: `.invalidValue` for an expression without a result, or with one that the field cannot hold; `.corrupt`.
  func value(of row: RowReader) throws(StoreError) -> FieldValue? {
    guard isThere(in: row) else { return nil }
    if kind == .value {
      guard let expression else { throw row.fault(ofDerived: field) }
      return try expression.ownValue(of: row)
    }
    guard let source else { return nil }
    switch try row.value(source) {
    case .string(let text): return .string(kind.text(of: text))
    case .array(let elements): return .integer(Int64(elements.count))
    default: return kind == .count ? .integer(0) : .null
    }
  }
}
