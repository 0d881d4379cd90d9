extension SchemaLock {
  /// Parses a lock.
  ///
  /// - Throws: `SchemaLockError.malformed` with the place of the first fault.
  public init(parsing text: String) throws(SchemaLockError) {
    var parser = LockParser()
    var number = 0
    // A line ends with a scalar, so that no character hides it.
    for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
      number += 1
      var line = LockLine(Substring(line.last == "\r" ? line.dropLast() : line), number)
      if line.isAtEnd { continue }
      try parser.take(&line)
      try line.end()
    }
    versions = try parser.finish(line: number)
  }
}

/// A parser with the part of a lock's file that was read so far.
private struct LockParser {
  private var hasBegun = false
  private var versions: [Version] = []
  /// The line at which the current version or record begins.
  private var heading: LockLine?

  private struct Version {
    let number: Int
    let label: String?
    var fingerprint: String?
    var records: [Record] = []

    var locked: LockedVersion? {
      fingerprint.map { fingerprint in
        LockedVersion(
          number: number, label: label, fingerprint: fingerprint,
          records: records.compactMap(\.locked))
      }
    }
  }

  private struct Record {
    let name: String
    var fingerprint: String?
    var renamingID: String?
    var modifier: String?
    var fields: [LockedField] = []
    var key: [LockedPart] = []
    var indexes: [LockedIndex] = []
    var validations: [String] = []

    /// Nil if something is missing.
    var locked: LockedRecord? {
      guard let fingerprint, !key.isEmpty else { return nil }
      return LockedRecord(
        name: name, fingerprint: fingerprint, renamingID: renamingID, modifier: modifier,
        fields: fields, key: key, indexes: indexes, validations: validations)
    }
  }

  mutating func take(_ line: inout LockLine) throws(SchemaLockError) {
    guard hasBegun else { return try begin(&line) }
    if line.take("version") { return try takeVersion(&line) }
    guard let last = versions.indices.last else { throw line.fault("no version has begun") }
    if line.take("record") { return try takeRecord(&line, in: last) }
    if versions[last].records.isEmpty {
      guard line.take("fingerprint"), versions[last].fingerprint == nil else {
        throw line.fault("a fingerprint or a record was expected")
      }
      versions[last].fingerprint = try line.fingerprint()
    } else {
      let record = versions[last].records.count - 1
      try Self.take(&line, &versions[last].records[record])
    }
  }

  mutating func finish(line number: Int) throws(SchemaLockError) -> [LockedVersion] {
    if !hasBegun {
      throw .malformed(
        line: max(1, number), column: 1, reason: "it does not begin with schema-lock")
    }
    try checkLast()
    return versions.compactMap(\.locked)
  }
}

// MARK: Versions and records

extension LockParser {
  private mutating func begin(_ line: inout LockLine) throws(SchemaLockError) {
    guard line.take("schema-lock") else { throw line.fault("it does not begin with schema-lock") }
    let format = try line.integer("the number of the form")
    guard format == SchemaLock.format else {
      throw line.fault("this library knows form \(SchemaLock.format)")
    }
    hasBegun = true
  }

  private mutating func takeVersion(_ line: inout LockLine) throws(SchemaLockError) {
    try checkLast()
    let number = try line.integer("a version")
    guard number > versions.last?.number ?? 0 else {
      throw line.fault("versions ascend from 1")
    }
    let label = line.isAtEnd ? nil : try line.text("a label")
    versions.append(Version(number: number, label: label))
    heading = line
  }

  private mutating func takeRecord(
    _ line: inout LockLine, in version: Int
  ) throws(SchemaLockError) {
    try checkLast()
    let name = try line.text("a record's name")
    if let last = versions[version].records.last, !last.name.precedes(name) {
      throw line.fault("records are there once, in the order of their names")
    }
    versions[version].records.append(Record(name: name))
    heading = line
  }

  /// Refuses what ends here and has not all that it must have.
  private func checkLast() throws(SchemaLockError) {
    guard let version = versions.last, let heading else { return }
    if version.fingerprint == nil { throw heading.fault("the version has no fingerprint") }
    guard let record = version.records.last else { return }
    if record.fingerprint == nil { throw heading.fault("the record has no fingerprint") }
    if record.key.isEmpty { throw heading.fault("the record has no key") }
  }
}

// MARK: Lines of a record

extension LockParser {
  private static func take(
    _ line: inout LockLine, _ record: inout Record
  ) throws(SchemaLockError) {
    if line.take("fingerprint") {
      if record.fingerprint != nil { throw line.fault("it has a fingerprint already") }
      record.fingerprint = try line.fingerprint()
    } else if line.take("renamed") {
      record.renamingID = try line.text("a name")
    } else if line.take("modifier") {
      record.modifier = try line.text("a modifier")
    } else if line.take("field") {
      let field = try field(&line)
      if let last = record.fields.last, !last.name.precedes(field.name) {
        throw line.fault("fields are there once, in the order of their names")
      }
      record.fields.append(field)
    } else if line.take("key") {
      if !record.key.isEmpty { throw line.fault("it has a key already") }
      record.key = try parts(&line)
    } else if line.take("index") {
      record.indexes.append(try index(&line, isUnique: false))
    } else if line.take("unique") {
      record.indexes.append(try index(&line, isUnique: true))
    } else if line.take("validation") {
      record.validations.append(try line.text("a sentence"))
    } else {
      throw line.fault(
        "fingerprint, renamed, modifier, field, key, index, unique, validation, record or version was"
          + " expected")
    }
  }

  private static func field(_ line: inout LockLine) throws(SchemaLockError) -> LockedField {
    let name = try line.text("a field's name")
    var field = LockedField(name: name, type: try type(&line))
    field.isOptional = line.take("optional")
    if line.take("modifier") { field.modifier = try line.text("a modifier") }
    if line.take("default") { field.defaultValue = try line.text("a value") }
    if line.take("migrated") { field.migrationDefault = try line.text("a value") }
    if line.take("renamed") { field.renamingID = try line.text("a name") }
    return field
  }

  private static func type(_ line: inout LockLine) throws(SchemaLockError) -> LockedType {
    var type = LockedType(name: try line.word("a type"))
    switch type.name {
    case "array":
      guard line.take("of") else { throw line.fault("an array is of something") }
      let element = try line.word("a type")
      guard LockedType.plain.contains(element), element != "composite" else {
        throw line.fault("there is no such type of elements")
      }
      type.element = element
    case "transformable": type.codec = try line.text("a codec")
    default:
      if !LockedType.plain.contains(type.name) { throw line.fault("there is no such type") }
    }
    if line.take("external") {
      guard type.name == "binaryData" || type.name == "string" else {
        throw line.fault("only binary data and strings are stored externally")
      }
      type.options = try options(&line)
    }
    return type
  }

  private static func options(_ line: inout LockLine) throws(SchemaLockError) -> BlobOptions {
    let threshold = try line.integer("a threshold")
    var compression = BlobCompression.none
    if !line.take("none") {
      guard line.take("zstd") else { throw line.fault("none or zstd was expected") }
      compression = .zstd(level: try line.integer("a level"))
    }
    let options = BlobOptions(
      threshold: threshold, compression: compression, deduplicated: line.take("deduplicated"))
    if let reason = options.fault { throw line.fault(reason) }
    return options
  }

  private static func parts(_ line: inout LockLine) throws(SchemaLockError) -> [LockedPart] {
    var parts: [LockedPart] = []
    repeat {
      var part = LockedPart(field: try line.text("a field's name"))
      part.isCaseInsensitive = line.take("caseless")
      part.isDescending = line.take("descending")
      parts.append(part)
    } while line.take(",")
    return parts
  }

  private static func index(
    _ line: inout LockLine, isUnique: Bool
  ) throws(SchemaLockError) -> LockedIndex {
    var index = LockedIndex(isUnique: isUnique, parts: try parts(&line))
    if line.take("named") { index.name = try line.text("a name") }
    if line.take("where") { index.condition = try line.text("a condition") }
    return index
  }
}
