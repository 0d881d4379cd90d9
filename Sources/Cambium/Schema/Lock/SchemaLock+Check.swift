internal import FoundationEssentials

extension SchemaLock {
  /// Reads the lock at `path`.
  ///
  /// - Throws: `SchemaLockError.missing`, `.malformed`, `.io`.
  public init(contentsOf path: String) throws(SchemaLockError) {
    guard FileManager.default.fileExists(atPath: path) else { throw .missing(path: path) }
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch { throw .io(path: path, reason: "\(error)") }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw .malformed(line: 1, column: 1, reason: "it is not in UTF-8")
    }
    try self.init(parsing: text)
  }

  /// Checks that a model describes every version as it was released, and that all versions are in the lock at `path`. Call
  /// it in a test that runs with every change.
  ///
  /// - Parameter allowsUnreleased: True to accept that the model's own version is missing while it is developed.
  /// - Throws: `SchemaLockError`, whose description names the changes and what to write; `StoreError.invalidDescription`.
  public static func check(
    _ model: StoreModel, at path: String, allowsUnreleased: Bool = false
  ) throws {
    let described = try SchemaLock(model)
    let lock = try SchemaLock(contentsOf: path)
    try lock.refuseChanges(in: described)
    let missing = described.versions.map(\.number).filter {
      !lock.contains(version: $0) && !(allowsUnreleased && $0 == model.version)
    }
    if !missing.isEmpty { throw SchemaLockError.notLocked(versions: missing, path: path) }
    for version in described.versions {
      let differences = lock[version.number]?.harmlessDifferences(to: version) ?? []
      if !differences.isEmpty {
        throw SchemaLockError.outdated(
          version: version.number, differences: differences, path: path)
      }
    }
  }

  /// Adds the versions of a model to the lock at `path` that it does not have, and creates the file if there is none. The
  /// versions in it stay as they are, except for parts on which no store depends.
  ///
  /// To unlock a version that was locked too early, delete its lines.
  ///
  /// - Throws: `SchemaLockError.changed` and `.newer`, as `check`; `.malformed`, `.io`;
  ///   `StoreError.invalidDescription`. The file is then unchanged.
  public static func write(_ model: StoreModel, at path: String) throws {
    var described = try SchemaLock(model)
    do throws(SchemaLockError) {
      let lock = try SchemaLock(contentsOf: path)
      try lock.refuseChanges(in: described)
      for index in described.versions.indices where described.versions[index].label == nil {
        // Only the newest version's label is in the model.
        described.versions[index].label = lock[described.versions[index].number]?.label
      }
    } catch .missing {}
    do {
      try Data("\(described)".utf8).write(to: URL(filePath: path), options: .atomic)
    } catch { throw SchemaLockError.io(path: path, reason: "\(error)") }
  }

  /// - Throws: `.changed`, `.newer`.
  private func refuseChanges(in described: SchemaLock) throws(SchemaLockError) {
    let newest = described.versions.last?.number ?? 0
    for version in versions {
      guard let now = described[version.number] else {
        throw .newer(version: version.number, model: newest)
      }
      let differences = version.differences(to: now)
      if differences.isEmpty { continue }
      throw .changed(
        version: version.number, differences: differences,
        advice: version.advice(now, isNewest: version.number == newest))
    }
  }
}

// MARK: - Differences

extension LockedVersion {
  /// Returns the differences to `other` on which stores or migrations depend.
  func differences(to other: LockedVersion) -> [String] {
    var differences: [String] = []
    let names = Set(records.map(\.name)).union(other.records.map(\.name))
    for name in names.sortedRarely(by: { $0.precedes($1) }) {
      let (locked, now) = (self[name], other[name])
      switch (locked, now) {
      case (_, nil): differences.append("\(name) is no longer described")
      case (nil, _): differences.append("\(name) is new")
      case (let locked?, let now?): differences += locked.differences(to: now)
      }
    }
    if differences.isEmpty, fingerprint != other.fingerprint {
      differences.append("the fingerprint was \(fingerprint), and is \(other.fingerprint)")
    }
    return differences
  }

  subscript(name: String) -> LockedRecord? { records.first { $0.name == name } }

  /// Returns the differences to `other` on which no store depends.
  func harmlessDifferences(to other: LockedVersion) -> [String] {
    var differences: [String] = []
    if let label = other.label, label != self.label {
      differences.append("its label was \(self.label?.quoted ?? "none"), and is \(label.quoted)")
    }
    for record in records {
      for field in record.fields {
        let now = other[record.name]?.fields.first { $0.name == field.name }
        guard let now, now != field else { continue }
        differences.append("\(record.name): \(field.line), now: \(now.line)")
      }
      let now = other[record.name]?.validations ?? []
      for text in record.validations where !now.contains(text) {
        differences.append("\(record.name) no longer has to hold: \(text)")
      }
      for text in now where !record.validations.contains(text) {
        differences.append("\(record.name) has to hold: \(text)")
      }
      let names = other[record.name]?.indexes ?? []
      for index in record.indexes {
        guard let named = names.first(where: { $0.unnamed == index.unnamed }),
          named.name != index.name
        else { continue }
        differences.append("\(record.name): \(index.line), now: \(named.line)")
      }
    }
    return differences
  }
}

extension LockedField {
  /// The field without where its values go that are yet to be written.
  var stored: LockedField {
    var type = type
    if type.options != nil { type.options = BlobOptions() }
    return LockedField(
      name: name, type: type, isOptional: isOptional, modifier: modifier,
      defaultValue: defaultValue, migrationDefault: migrationDefault, renamingID: renamingID)
  }
}

extension LockedRecord {
  fileprivate func differences(to other: LockedRecord) -> [String] {
    var differences: [String] = []
    for field in fields {
      guard let now = other.fields.first(where: { $0.name == field.name }) else {
        differences.append("\(name).\(field.name) is no longer described")
        continue
      }
      if now.stored != field.stored {
        differences.append("\(name): \(field.line), now: \(now.line)")
      }
    }
    for field in other.fields where !fields.contains(where: { $0.name == field.name }) {
      differences.append("\(name).\(field.name) is new")
    }
    if key != other.key {
      differences.append("\(name): key \(key.lockText), now: key \(other.key.lockText)")
    }
    let (shapes, others) = (indexes.map(\.unnamed), other.indexes.map(\.unnamed))
    for index in shapes where !others.contains(index) {
      differences.append("\(name): \(index.line) is no longer described")
    }
    for index in others where !shapes.contains(index) {
      differences.append("\(name): \(index.line) is new")
    }
    if modifier != other.modifier { differences.append("\(name) has another modifier") }
    if renamingID != other.renamingID { differences.append("\(name) has another renamingID") }
    if differences.isEmpty, fingerprint != other.fingerprint {
      differences.append("the fingerprint of \(name) is another")
    }
    return differences
  }
}

extension LockedIndex {
  /// The index without its name, on which no store depends.
  fileprivate var unnamed: LockedIndex {
    var index = self
    index.name = nil
    return index
  }
}
