extension Schema {
  /// The way in which parts of two schemas are recognized as the same.
  package enum Identity: Hashable, Sendable {
    /// By stored names, and indexes by their fields and conditions: for schemas of different stores. There is a difference
    /// exactly if the fingerprints differ.
    case name
    /// By numbers, whatever the names: for versions of one store or model. Renamings are recognized.
    case number
  }

  /// Returns the differences between this schema and a newer one, whose parts are the same if their stored names are. There is
  /// one exactly if the fingerprints differ.
  ///
  /// - Complexity: O(fields × log fields).
  public func differences(to newer: Schema) -> [SchemaDifference] {
    differences(to: newer, by: .name)
  }

  package func differences(to newer: Schema, by identity: Identity) -> [SchemaDifference] {
    let (removed, older) = identity.match(
      records.map { ($0.name, $0.number) }, newer.records.map { ($0.name, $0.number) })
    return removed.map { SchemaDifference(.removed, of: records[$0].name) }
      + zip(newer.records, older).flatMap { record, index in
        index.map { records[$0].differences(to: record, by: identity) }
          ?? [SchemaDifference(.added(as: nil), of: record.name)]
      }
  }
}

extension Schema.Identity {
  /// Returns the indexes of those that only the older list has, and for each of the newer list that of its older self.
  fileprivate func match(
    _ older: [(name: String, number: UInt32)], _ newer: [(name: String, number: UInt32)]
  ) -> (removed: [Int], older: [Int?]) {
    // Names are compared by their bytes, as in fingerprints.
    func key(_ part: (name: String, number: UInt32)) -> [UInt8] {
      Array((self == .name ? part.name : String(part.number)).utf8)
    }
    var places: [[UInt8]: Int] = [:]
    for (index, part) in older.enumerated() { places[key(part)] = index }
    let found = newer.map { places[key($0)] }
    let kept = Set(found.compactMap(\.self))
    return (older.indices.filter { !kept.contains($0) }, found)
  }
}

extension RecordSchema {
  /// Returns the differences between this description of a record and a newer one.
  func differences(to newer: RecordSchema, by identity: Schema.Identity) -> [SchemaDifference] {
    var differences: [SchemaDifference] = []
    func add(_ change: SchemaDifference.Change?, _ field: String? = nil) {
      if let change { differences.append(SchemaDifference(change, of: newer.name, field: field)) }
    }
    add(.changed(.name, name, newer.name))
    let (removed, older) = identity.match(
      fields.map { ($0.name, $0.number) }, newer.fields.map { ($0.name, $0.number) })
    for index in removed { add(.removed, fields[index].name) }
    for (field, old) in zip(newer.fields, older) {
      guard let old = old.map({ fields[$0] }) else {
        add(.added(as: "\(field.type)\(field.isOptional ? ", optional" : "")"), field.name)
        continue
      }
      for change in old.changes(to: field, by: identity) { add(change, field.name) }
    }
    let (key, newKey) = (text(of: primaryKey), newer.text(of: newer.primaryKey))
    // By number, a key is the same whatever its fields are called.
    if identity == .name ? key != newKey : primaryKey != newer.primaryKey {
      add(.changed(.primaryKey, from: key, to: newKey))
    }
    let (dropped, kept) = identity.match(
      indexes.map { (text(of: $0), $0.number) },
      newer.indexes.map { (newer.text(of: $0), $0.number) })
    for index in dropped { add(.indexRemoved(text(of: indexes[index]))) }
    for (index, old) in zip(newer.indexes, kept) where old == nil {
      add(.indexAdded(newer.text(of: index)))
    }
    add(.changed(.modifier, modifier, newer.modifier))
    add(.changed(.kinds, kindsText, newer.kindsText))
    return differences
  }

  func text(of parts: [KeyPart]) -> String {
    "(\(keyFields(parts).text))"
  }

  func text(of index: IndexSchema) -> String {
    (index.isUnique ? "unique index " : "index ") + text(of: index.parts)
      + (index.condition.map { " where \($0.canonical)" } ?? "")
  }
}

extension FieldSchema {
  fileprivate func changes(
    to newer: FieldSchema, by identity: Schema.Identity
  ) -> [SchemaDifference.Change] {
    var changes: [SchemaDifference.Change?] = [.changed(.name, name, newer.name)]
    // Where values lie is no part of the stored description.
    if identity == .name ? type.stored != newer.type.stored : type != newer.type {
      changes.append(.changed(.type, from: "\(type)", to: "\(newer.type)"))
    }
    if isOptional != newer.isOptional {
      changes.append(newer.isOptional ? .becameOptional : .becameRequired)
    }
    let (old, new) = (reference, newer.reference)
    let isSame = old.map { $0.leads(as: new) } ?? (new == nil)
    if identity == .name || !isSame {
      changes.append(.changed(.destination, old?.destinationText, new?.destinationText))
    }
    if let old, let new, old.isChecked != new.isChecked {
      changes.append(
        .changed(
          .checking, old.isChecked ? "checked" : "unchecked",
          new.isChecked ? "checked" : "unchecked"))
    }
    if identity == .name || !hasDerivation(of: newer) {
      changes.append(
        .changed(.derivation, derivation?.description, newer.derivation?.description))
    }
    changes.append(.changed(.modifier, modifier, newer.modifier))
    return changes.compactMap(\.self)
  }
}
