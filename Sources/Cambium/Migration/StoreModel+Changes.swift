extension StoreModel {
  /// Returns the differences between two versions of the model. Renamings are recognized, and so are records that enter a
  /// hierarchy or leave it.
  ///
  /// - Throws: `StoreError.invalidDescription`, also if the model does not have one of the versions.
  public func changes(from older: Int, to newer: Int) throws(StoreError) -> [SchemaDifference] {
    let schemas = try schemas()
    for wanted in [older, newer] where wanted < 1 || wanted > schemas.count {
      throw .invalidDescription(
        record: "StoreModel", field: nil, version: wanted,
        reason: "the model has the versions 1 to \(version)")
    }
    let versions = try describedVersions()
    var steps: [SchemaChange] = []
    for version in min(older, newer)..<newer {
      steps.append(
        try SchemaChange(
          from: schemas[version - 1], to: schemas[version], described: versions[version]))
    }
    let change = try SchemaChange(
      from: schemas[older - 1], to: schemas[newer - 1], described: versions[newer - 1],
      between: steps.count > 1 ? steps : [])
    let kept = Set(change.moves.filter { $0.places != nil && $0.move?.kind == nil }.map(\.old.name))
    var new = schemas[newer - 1]
    // What has the number of a record whose records it has is another record.
    for (place, record) in change.replaced.enumerated() {
      new.records.removeAll { $0.number == record.new.number }
      var renumbered = record.new
      renumbered.number = .max - UInt32(change.replaced.count - place)
      new.records.append(renumbered)
    }
    return change.moveDifferences
      + schemas[older - 1].differences(to: new, by: .number).filter { difference in
        difference.change != .removed || difference.field != nil
          || !kept.contains(difference.record ?? "")
      }
  }
}

extension SchemaChange {
  /// The records and kinds whose records are kept elsewhere afterwards.
  var moveDifferences: [SchemaDifference] {
    moves.compactMap(\.places).map { source, target in
      SchemaDifference(.moved(from: source.name), of: target.record, field: target.kind)
    }
  }
}
