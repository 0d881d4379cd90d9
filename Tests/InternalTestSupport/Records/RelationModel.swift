@testable import Cambium

/// A model of records without types.
func untyped(
  version: Int = 1, _ records: (String, RecordDescription)...
) -> StoreModel {
  StoreModel(
    version: version,
    untyped: records.map { name, description in RemovedRecord(name) { _ in description } })
}

/// The other end of a reference, between records without types.
func inverse(
  _ name: String, of reference: String, in related: String, _ deleteRule: DeleteRule = .nullify,
  count: RelationBounds? = nil, renamingID: String? = nil
) -> RecordDescription {
  RecordDescription([
    RecordDescription.Element(
      kind: .inverse(
        InverseDeclaration(
          name: name, related: .name(related), reference: .field(reference),
          deleteRule: deleteRule, bounds: count, renamingID: renamingID)))
  ])
}

extension StoreModel {
  /// The schema of its version, for a store that has none.
  var onlySchema: Schema {
    get throws(StoreError) { try checked().schema }
  }
}
