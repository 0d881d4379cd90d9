// The proof that checked references lead somewhere: the last tasks of a migration, before the switch.

extension MigrationTask {
  /// Proves that each reference of one relation leads to a record.
  struct ReferenceProof: Sendable {
    let place: ReferencePlace
    /// With whole indexes.
    let world: World

    /// The rule that it proves.
    var text: String {
      guard let record = world.schema.record(number: place.record),
        let field = record.field(place.field)
      else { return "" }
      return "\(record.name).\(field.name) leads to \(field.reference?.destinationText ?? "")"
    }
  }
}

extension MigrationRoute {
  /// The checked references of the last version that may lead nowhere after the steps, in its order. Those between are not
  /// proved: a later step may make the statements of a version between true.
  var unproved: [ReferencePlace] {
    var places: Set<ReferencePlace> = []
    for hop in hops { places.formUnion(hop.change.unproved(hop.unknown)) }
    return to.records.flatMap { record in
      record.fields.compactMap { field in
        let place = ReferencePlace(record: record.number, field: field.number)
        return field.reference?.isChecked == true && places.contains(place) ? place : nil
      }
    }
  }

  /// Returns true if the records of a type have the keys in the end that they have now: if no step changes their keys, and no
  /// closure makes such records. Hooks are not looked at.
  func knowsKeys(of record: RecordSchema) -> Bool {
    hops.allSatisfy { hop in
      guard let present = hop.change.to.record(number: record.number) else { return true }
      if hop.emittedNames.contains(present.name) { return false }
      if hop.change.transformed.contains(where: { $0.record.number == record.number }) {
        return false
      }
      return hop.change.all.allSatisfy { change in
        change.new.number != record.number || !change.changesKeys
      }
    }
  }
}

extension MigrationRoute.Hop {
  /// The names of the records that closures of the step make.
  var emittedNames: Set<String> {
    let targets = (step?.transforms ?? []).flatMap(\.targets)
    return Set(targets.compactMap { $0.place(in: change.to)?.record.name })
  }

  fileprivate var unknown: UnknownRecords {
    let hasHooks = step.map { !$0.before.isEmpty || !$0.after.isEmpty } ?? false
    return UnknownRecords(areAll: hasHooks, names: emittedNames)
  }
}

extension Link {
  var place: ReferencePlace { ReferencePlace(record: source.record.number, field: field.number) }
}

extension Migrator {
  /// Reads the entries of the reverse index beside the records that they lead to, in one pass.
  ///
  /// - Throws: `.stepFailed` with the number of references that lead nowhere, and the first; `.migrationCancelled`,
  ///   `.corrupt`, `.io`.
  func prove(_ proof: MigrationTask.ReferenceProof) throws(StoreError) {
    let links = try entities(of: proof.world).relations?.links ?? []
    guard let link = links.first(where: { $0.place == proof.place }) else { return }
    let monitor = monitor
    let found = try RelationCheck.dangling(link, in: try backend.trees()) { () throws(StoreError) in
      try monitor.step()
    }
    guard let first = found.first else { return }
    let name = link.destinationName
    throw .stepFailed(
      version: proof.world.schema.version, source: link.name,
      reason:
        "\(found.count) reference\(found.count == 1 ? " leads" : "s lead") to no \(name), the first of the record"
        + " \(link.source.text(ofKey: first.source.rawSpan)) to \(first.destination). Let the step give such records another"
        + " value, or delete them in a `RunBefore`, or make the missing records in a `RunAfter`")
  }
}
