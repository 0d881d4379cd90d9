/// The version before a step, whole, as closures and paths of the step read it.
struct OldVersion: Sendable {
  let entities: Entities
  let trees: SnapshotTrees
}

/// The path from a record to a field of one that it leads to, over one reference or several: `author.country.name`.
struct RelatedPath: Sendable {
  /// The path as a step names it.
  let name: String
  /// The stored names of the references, each in the record that the one before leads to. There is at least one.
  let references: [String]
  /// The field of the last record.
  let field: FieldSchema
}

extension Schema {
  /// Returns the path with a name from a record; nil if the name is of no field, or leads over a list or an inverse.
  func path(_ name: String, from record: RecordSchema) -> RelatedPath? {
    var (record, rest) = (record, name[...])
    var references: [String] = []
    while true {
      if let field = record.field(named: String(rest)) {
        return references.isEmpty
          ? nil : RelatedPath(name: name, references: references, field: field)
      }
      guard let (field, other, end) = reference(at: rest, in: record) else { return nil }
      references.append(field.name)
      (record, rest) = (other, end)
    }
  }

  /// Returns the single reference that a path begins with, the record that it leads to, and the path from there.
  private func reference(
    at path: Substring, in record: RecordSchema
  ) -> (field: FieldSchema, destination: RecordSchema, rest: Substring)? {
    for dot in path.indices where path[dot] == "." {
      guard let field = record.field(named: String(path[..<dot])), field.type.scalar != nil,
        let destination = field.reference.flatMap({ self.record(number: $0.record) })
      else { continue }
      return (field, destination, path[path.index(after: dot)...])
    }
    return nil
  }
}

extension RelatedPath {
  /// Returns the value at its end; null if a record on the way is missing, or if the value itself is.
  ///
  /// - Complexity: A lookup for each reference.
  /// - Throws: `.corrupt`, `.io`.
  func value(
    of record: borrowing RowReader, in version: OldVersion
  ) throws(StoreError) -> FieldValue {
    let source = try version.entities.entity(named: record.layout.record.name)
    return try value(record.key.array(), record.row.array(), of: source, behind: 0, in: version)
  }

  /// - Parameter index: The number of references that led to the record.
  private func value(
    _ key: [UInt8], _ row: [UInt8], of source: Entity, behind index: Int, in version: OldVersion
  ) throws(StoreError) -> FieldValue {
    let trees = TreeAccess.state(version.trees)
    guard index < references.count else {
      guard let column = source.layout.index(number: field.number) else { return .null }
      let reader = try source.row(
        key: key.rawSpan, row: row.rawSpan, blobs: trees.blobFinder(of: source))
      return try reader.value(column)
    }
    let reference = source.record.field(named: references[index])?.reference
    guard let destination = reference.flatMap({ version.entities.entity(number: $0.record) })
    else { return .null }
    let link = try version.entities.link(of: source, references[index], to: destination)
    let reader = try source.row(key: key.rawSpan, row: row.rawSpan)
    var next: [UInt8]?
    try link.forEachKey(of: reader, in: KeyEncoder()) { key in next = key.array() }
    var found: [UInt8] = []
    guard let next, try trees.copyValue(of: next.rawSpan, in: destination.rows, to: &found) else {
      return .null
    }
    return try value(next, found, of: destination, behind: index + 1, in: version)
  }
}

extension OldVersion {
  /// Returns the place in a record's list of references of the one whose record has the least value of a field, or the
  /// greatest. Of equal ones, the first; a record that has no value, or does not exist, comes after all others.
  ///
  /// - Parameters:
  ///   - list: The name of the list, which has an element.
  ///   - number: The number of the record that it leads to.
  /// - Complexity: A lookup for each element.
  /// - Throws: `.corrupt`, `.io`.
  func place(
    of record: borrowing RowReader, _ list: String, by field: FieldSchema, of number: UInt32,
    isDescending: Bool
  ) throws(StoreError) -> Int {
    let source = try entities.entity(named: record.layout.record.name)
    guard let destination = entities.entity(number: number),
      let column = destination.layout.index(number: field.number)
    else { return 0 }
    let trees = TreeAccess.state(trees)
    let link = try entities.link(of: source, list, to: destination)
    let (key, row) = (record.key.array(), record.row.array())
    let reader = try source.row(key: key.rawSpan, row: row.rawSpan)
    var keys: [[UInt8]] = []
    try link.forEachKey(of: reader, in: KeyEncoder()) { key in keys.append(key.array()) }
    var found: [UInt8] = []
    var kept: (place: Int, value: FieldValue)?
    for (place, key) in keys.enumerated() {
      guard try trees.copyValue(of: key.rawSpan, in: destination.rows, to: &found) else { continue }
      let reader = try destination.row(key: key.rawSpan, row: found.rawSpan)
      let value = try reader.value(column)
      // Null and NaN have no order, even with themselves.
      guard value.compare(to: value) != nil else { continue }
      guard let least = kept?.value, let order = value.compare(to: least) else {
        kept = (place, value)
        continue
      }
      let isBefore = isDescending ? order > 0 : order < 0
      if isBefore { kept = (place, value) }
    }
    return kept?.place ?? 0
  }
}

extension RecordSchema {
  /// Returns true if a path begins with a list of references, or with an inverse.
  func leadsToSeveral(by path: String) -> Bool {
    path.indices.contains { dot in
      guard path[dot] == "." else { return false }
      let name = String(path[..<dot])
      if inverse(named: name) != nil { return true }
      return field(named: name).map { $0.reference != nil && $0.type.scalar == nil } ?? false
    }
  }
}
