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
  /// Without a fingerprint as long as the file has stated none.
  private var versions: [LockedVersion] = []
  /// The line at which the current version or record begins.
  private var heading: LockLine?

  mutating func take(_ line: inout LockLine) throws(SchemaLockError) {
    guard hasBegun else { return try begin(&line) }
    if line.take("version") { return try takeVersion(&line) }
    guard let last = versions.indices.last else { throw line.fault("no version has begun") }
    if line.take("record") { return try takeRecord(&line, in: last) }
    if versions[last].records.isEmpty {
      try takeStatement(&line, of: last)
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
    return versions
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
    versions.append(LockedVersion(number: number, label: label, fingerprint: "", records: []))
    heading = line
  }

  /// Takes a line between those of the version and its first record.
  private mutating func takeStatement(
    _ line: inout LockLine, of version: Int
  ) throws(SchemaLockError) {
    if line.take("steps") {
      guard line.take("none"), versions[version].steps == nil else {
        throw line.fault("steps none is said once, where there is no step")
      }
      versions[version].steps = []
    } else if line.take("step") {
      guard versions[version].steps != [] else { throw line.fault("there are no steps, it says") }
      versions[version].steps =
        (versions[version].steps ?? []) + [try line.step(to: versions[version].number)]
    } else {
      guard line.take("fingerprint"), versions[version].fingerprint.isEmpty else {
        throw line.fault("a fingerprint, a step or a record was expected")
      }
      versions[version].fingerprint = try line.fingerprint()
    }
  }

  private mutating func takeRecord(
    _ line: inout LockLine, in version: Int
  ) throws(SchemaLockError) {
    try checkLast()
    let name = try line.text("a record's name")
    if let last = versions[version].records.last, !last.schema.name.precedes(name) {
      throw line.fault("records are there once, in the order of their names")
    }
    let schema = RecordSchema(
      number: 1, name: name, fields: [], primaryKey: [], indexes: [], modifier: nil)
    versions[version].records.append(LockedRecord(schema: schema, fingerprint: ""))
    heading = line
  }

  /// Refuses a declaration that ends here without all that it must have.
  private func checkLast() throws(SchemaLockError) {
    guard let version = versions.last, let heading else { return }
    if version.fingerprint.isEmpty { throw heading.fault("the version has no fingerprint") }
    guard let record = version.records.last else { return }
    if record.fingerprint.isEmpty { throw heading.fault("the record has no fingerprint") }
    if record.schema.primaryKey.isEmpty { throw heading.fault("the record has no key") }
  }
}

// MARK: Lines of a record

extension LockParser {
  private static func take(
    _ line: inout LockLine, _ record: inout LockedRecord
  ) throws(SchemaLockError) {
    if line.take("fingerprint") {
      if !record.fingerprint.isEmpty { throw line.fault("it has a fingerprint already") }
      record.fingerprint = try line.fingerprint()
    } else if line.take("renamed") {
      record.renamingID = try line.text("a name")
    } else if line.take("modifier") {
      record.schema.modifier = try line.text("a modifier")
    } else if line.take("abstract") {
      record.schema.isAbstract = true
    } else if line.take("info") {
      try takeAnnotation(&line, &record.schema.userInfo)
    } else if line.take("field") {
      try takeField(&line, &record)
    } else if line.take("key") {
      if !record.schema.primaryKey.isEmpty { throw line.fault("it has a key already") }
      record.schema.primaryKey = try parts(&line, of: record.schema)
    } else if line.take("index") {
      record.schema.indexes.append(try index(&line, of: record.schema, isUnique: false))
    } else if line.take("unique") {
      record.schema.indexes.append(try index(&line, of: record.schema, isUnique: true))
    } else if line.take("inverse") {
      try takeInverse(&line, &record)
    } else if line.take("expiry") {
      try takeExpiry(&line, &record.schema)
    } else if line.take("validation") {
      record.validations.append(try line.text("a sentence"))
    } else {
      throw line.fault(
        "fingerprint, renamed, modifier, abstract, info, field, key, index, unique, inverse, expiry, validation, record or version"
          + " was expected")
    }
  }

  /// Reads `createdAt after 86400000`, of milliseconds.
  private static func takeExpiry(
    _ line: inout LockLine, _ record: inout RecordSchema
  ) throws(SchemaLockError) {
    guard record.expiry == nil else { throw line.fault("it has an expiry already") }
    let name = try line.text("a field's name")
    guard let field = record.field(named: name) else { throw line.fault("there is no such field") }
    let delay = line.take("after") ? try line.integer("a number of milliseconds") : 0
    record.expiry = ExpirySchema(field: field.number, milliseconds: Int64(delay))
  }

  private static func takeField(
    _ line: inout LockLine, _ record: inout LockedRecord
  ) throws(SchemaLockError) {
    let name = try line.text("a field's name")
    if let last = record.schema.fields.last, !last.name.precedes(name) {
      throw line.fault("fields are there once, in the order of their names")
    }
    var composite: FieldSchema?
    if let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) {
      composite = record.schema.field(named: String(name[..<dot]))
      guard composite?.type == .composite else {
        throw line.fault("it is a part of \(name[..<dot]), which is no composite before it")
      }
    }
    let type = try type(&line)
    let reference = line.take("to") ? try self.reference(&line, type) : nil
    let isKind = type == .composite && line.take("kind")
    if isKind {
      record.schema.kinds.append(
        KindSchema(composite: record.schema.nextField, isAbstract: line.take("abstract")))
    }
    var field = FieldSchema(
      number: record.schema.nextField, name: name, type: type,
      isOptional: isKind || line.take("optional"), composite: composite?.number, modifier: nil,
      reference: reference)
    if line.take("derived") { field.derivation = try derivation(&line) }
    if line.take("modifier") { field.modifier = try line.text("a modifier") }
    while line.take("info") { try takeAnnotation(&line, &field.userInfo) }
    if line.take("default") { field.defaultValue = try value(&line, of: type) }
    record.schema.fields.append(field)
    record.schema.order.append(field.number)
    record.schema.nextField += 1
    var locked = LockedField()
    if line.take("migrated") { locked.migrationDefault = try line.text("a value") }
    if line.take("choosing") { locked.choice = try choice(&line) }
    if line.take("renamed") { locked.renamingID = try line.text("a name") }
    if locked != LockedField() { record.fields[name] = locked }
  }

  private static func value(
    _ line: inout LockLine, of type: ColumnType
  ) throws(SchemaLockError) -> FieldValue {
    let text = try line.text("a value")
    let value = try? FieldValue(parsing: text)
    guard let value = value?.converted(to: type) ?? value, value.isDefault(of: type) else {
      throw line.fault("the default \(text) is not a value of \(type)")
    }
    return value
  }

  /// Reads `first`, `last`, `only`, `least by price`, `greatest by price` or `all in items`.
  private static func choice(_ line: inout LockLine) throws(SchemaLockError) -> ElementChoice {
    for (word, choice) in [("first", ElementChoice.first), ("last", .last), ("only", .only)]
    where line.take(word) {
      return choice
    }
    if line.take("all"), line.take("in") { return .all(in: try line.text("a field's name")) }
    let isLeast = line.take("least")
    guard isLeast || line.take("greatest"), line.take("by") else {
      throw line.fault("there is no such choice of an element")
    }
    let field = try line.text("a field's name")
    return isLeast ? .least(by: field) : .greatest(by: field)
  }

  private static func takeAnnotation(
    _ line: inout LockLine, _ userInfo: inout [String: String]
  ) throws(SchemaLockError) {
    let name = try line.text("the name of an annotation")
    guard userInfo[name] == nil else { throw line.fault("it has this annotation already") }
    userInfo[name] = try line.text("an annotation")
  }

  private static func reference(
    _ line: inout LockLine, _ type: ColumnType
  ) throws(SchemaLockError) -> ReferenceSchema {
    let path = try line.text("a record's name")
    // No record has a dot in its name.
    let dot = path.utf8.firstIndex(of: UInt8(ascii: "."))
    let rule: DeleteRule =
      line.take("cascade") ? .cascade : line.take("deny") ? .deny : .nullify
    return ReferenceSchema(
      record: 0, destination: String(path[..<(dot ?? path.endIndex)]),
      kind: dot.map { String(path[path.utf8.index(after: $0)...]) },
      isChecked: !line.take("unchecked"), deleteRule: rule,
      bounds: try bounds(&line))
  }

  private static func derivation(
    _ line: inout LockLine
  ) throws(SchemaLockError) -> DerivationSchema {
    let name = try line.word("a derivation")
    guard let kind = DerivationSchema.Kind.allCases.first(where: { "\($0)" == name }) else {
      throw line.fault("there is no such derivation")
    }
    var derivation = DerivationSchema(kind)
    if kind == .sequence {
      derivation.sequence = try sequence(&line)
      return derivation
    }
    if line.take("over") {
      (derivation.related, derivation.reference) = try path(&line)
    }
    if line.take("as") {
      let text = try line.text("an expression")
      do throws(DescriptionFault) {
        derivation.expression = try FieldExpression(ofDerived: text)
      } catch { throw line.fault(error.reason) }
      return derivation
    }
    guard line.take("of") else { return derivation }
    let field = try line.text("a field's name")
    if kind == .count { derivation.reference = field } else { derivation.source = field }
    return derivation
  }

  /// Reads the rest of a sequence: `from 1000 by 10 without gaps`, or any part of it.
  private static func sequence(_ line: inout LockLine) throws(SchemaLockError) -> SequenceSchema {
    var sequence = SequenceSchema()
    if line.take("from") { sequence.first = Int64(try line.integer("the first number")) }
    if line.take("by") { sequence.step = Int64(try line.integer("a step")) }
    if line.take("without") {
      guard line.take("gaps") else { throw line.fault("it is “without gaps”") }
      sequence.hasNoGaps = true
    }
    return sequence
  }

  /// Reads a record and a field of it.
  private static func path(
    _ line: inout LockLine
  ) throws(SchemaLockError) -> (record: String, field: String) {
    let path = try line.text("a reference")
    // No record has a dot in its name.
    guard let dot = path.utf8.firstIndex(of: UInt8(ascii: ".")) else {
      throw line.fault("a reference is a record and a field, with a dot between them")
    }
    return (String(path[..<dot]), String(path[path.utf8.index(after: dot)...]))
  }

  private static func takeInverse(
    _ line: inout LockLine, _ record: inout LockedRecord
  ) throws(SchemaLockError) {
    let name = try line.text("the name of an inverse")
    if let last = record.schema.inverses.last, !last.name.precedes(name) {
      throw line.fault("inverses are there once, in the order of their names")
    }
    guard line.take("of") else { throw line.fault("an inverse is of a reference") }
    let (related, reference) = try path(&line)
    let rule: DeleteRule =
      line.take("cascade")
      ? .cascade : line.take("deny") ? .deny : line.take("unchecked") ? .noAction : .nullify
    record.schema.add(
      InverseSchema(
        number: 0, name: name, record: 0, field: 0, related: related, reference: reference,
        deleteRule: rule, bounds: try bounds(&line)))
    if line.take("renamed") {
      record.fields[name] = LockedField(renamingID: try line.text("a name"))
    }
  }

  /// Reads `count 1...3` or `count 1...`.
  private static func bounds(
    _ line: inout LockLine
  ) throws(SchemaLockError) -> RelationBounds? {
    guard line.take("count") else { return nil }
    let range = try line.word("a range")
    let ends = range.split(separator: "...", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2, let least = Int(ends[0]), ends[1].isEmpty || Int(ends[1]) != nil else {
      throw line.fault("a range is such as 0...10 or 1...")
    }
    let bounds = RelationBounds(least: least, most: Int(ends[1]))
    if let reason = bounds.fault { throw line.fault(reason) }
    return bounds
  }

  private static let scalars = Dictionary(
    ScalarType.allCases.map { ("\($0)", $0) }, uniquingKeysWith: { first, _ in first })

  private static func type(_ line: inout LockLine) throws(SchemaLockError) -> ColumnType {
    let name = try line.word("a type")
    switch name {
    case "array":
      guard line.take("of") else { throw line.fault("an array is of something") }
      guard let element = scalars[try line.word("a type")] else {
        throw line.fault("there is no such type of elements")
      }
      return .array(of: element)
    case "transformable": return .transformable(codec: try line.text("a codec"))
    case "composite": return .composite
    default: break
    }
    guard let type = scalars[name] else { throw line.fault("there is no such type") }
    guard line.take("external") else { return .scalar(type) }
    guard type == .binaryData || type == .string else {
      throw line.fault("only binary data and strings are stored externally")
    }
    return .external(of: type, try options(&line))
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

  private static func parts(
    _ line: inout LockLine, of record: RecordSchema
  ) throws(SchemaLockError) -> [KeyPart] {
    var names: [String] = []
    var parts: [KeyPart] = []
    repeat {
      names.append(try line.text("a field's name"))
      let expansion: KeyPart.Expansion =
        line.take("elements") ? .elements : line.take("words") ? .words : .none
      let isCaseInsensitive = line.take("caseless")
      let collation =
        line.take("by")
        ? Collation(
          named: try line.text("a collation's name"), version: try line.text("its version")) : nil
      let isDescending = line.take("descending")
      parts.append(
        KeyPart(
          field: 0, isDescending: isDescending, isCaseInsensitive: isCaseInsensitive,
          expansion: expansion, collation: collation))
    } while line.take(",")
    for (index, name) in names.enumerated() {
      guard let field = record.field(named: name) else {
        throw line.fault("there is no field \(name) before it")
      }
      parts[index].field = field.number
    }
    return parts
  }

  private static func index(
    _ line: inout LockLine, of record: RecordSchema, isUnique: Bool
  ) throws(SchemaLockError) -> IndexSchema {
    let parts = try parts(&line, of: record)
    let name = line.take("named") ? try line.text("a name") : record.indexName(of: parts)
    return IndexSchema(
      number: UInt32(record.indexes.count) + 1, name: name, parts: parts, isUnique: isUnique,
      condition: line.take("where") ? try condition(&line, of: record, index: name) : nil)
  }

  private static func condition(
    _ line: inout LockLine, of record: RecordSchema, index: String
  ) throws(SchemaLockError) -> FieldCondition {
    let text = try line.text("a condition")
    let condition: FieldCondition
    do throws(ConditionSyntaxError) {
      condition = try FieldCondition(parsing: text)
    } catch { throw line.fault("its condition, \(error)") }
    do throws(DescriptionFault) {
      return try record.converted(condition, of: index)
    } catch { throw line.fault(error.reason) }
  }
}

/// One line of a lock's file, being read word by word.
private struct LockLine {
  private let scalars: [Unicode.Scalar]
  /// From 1.
  let number: Int
  private var position = 0
  /// The offset of the word that was read last.
  private var start = 0

  init(_ text: Substring, _ number: Int) {
    scalars = Array(text.unicodeScalars)
    self.number = number
    skipSpaces()
  }

  /// True if there is nothing more, but for a comment.
  var isAtEnd: Bool { position == scalars.count || scalars[position] == "#" }

  /// An error at the word that was read last, or at the place where one is missing.
  func fault(_ reason: String) -> SchemaLockError {
    .malformed(line: number, column: start + 1, reason: reason)
  }

  private mutating func skipSpaces() {
    while position < scalars.count, scalars[position] == " " || scalars[position] == "\t" {
      position += 1
    }
  }

  /// The word or the text between quotes that comes next.
  mutating func text(_ what: String) throws(SchemaLockError) -> String {
    start = position
    if position < scalars.count, scalars[position] == "\"" { return try quoted() }
    return try word(what)
  }

  mutating func word(_ what: String) throws(SchemaLockError) -> String {
    start = position
    var word = String.UnicodeScalarView()
    while position < scalars.count, scalars[position].isOfLockWord {
      word.append(scalars[position])
      position += 1
    }
    if word.isEmpty { throw fault("\(what) is missing") }
    skipSpaces()
    return String(word)
  }

  /// Returns true if a word comes next, which is then read.
  mutating func take(_ word: String) -> Bool {
    let end = position + word.unicodeScalars.count
    guard end <= scalars.count, scalars[position..<end].elementsEqual(word.unicodeScalars),
      end == scalars.count || !scalars[end].isOfLockWord || word == ","
    else { return false }
    (start, position) = (position, end)
    skipSpaces()
    return true
  }

  mutating func end() throws(SchemaLockError) {
    start = position
    if !isAtEnd { throw fault("nothing more was expected here") }
  }

  mutating func integer(_ what: String) throws(SchemaLockError) -> Int {
    let word = try word(what)
    guard let number = Int(word), "\(number)" == word else { throw fault("\(what) is no number") }
    return number
  }

  /// Reads `from 1 label "A" revision 2`, or `from 1...3` of a step in place of several.
  fileprivate mutating func step(to version: Int) throws(SchemaLockError) -> StatedStep {
    guard take("from") else { throw fault("a step leads from a version") }
    let from = try word("a version").split(
      separator: "...", maxSplits: 1, omittingEmptySubsequences: false)
    let ends = from.compactMap { Int($0) }
    guard ends.count == from.count, let first = ends.first, let last = ends.last, first >= 1,
      first <= last, from.count == 1 || last < version
    else { throw fault("a step leads from a version such as 1, or from several such as 1...3") }
    let label = take("label") ? try text("a label") : nil
    return StatedStep(
      from: first...last, to: version, isSquashed: from.count == 2, label: label,
      revision: take("revision") ? try integer("a revision") : 0)
  }

  mutating func fingerprint() throws(SchemaLockError) -> String {
    let word = try word("a fingerprint")
    guard word.utf8.count == 32,
      word.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { throw fault("a fingerprint is 32 digits, 0 to 9 and a to f") }
    return word
  }
}

extension LockLine {
  /// Reads a text between quotes, with the escapes that strings in conditions have.
  private mutating func quoted() throws(SchemaLockError) -> String {
    var end = position + 1
    while end < scalars.count, scalars[end] != "\"" { end += scalars[end] == "\\" ? 2 : 1 }
    guard end < scalars.count else { throw fault("the quote does not end") }
    let quote = String(String.UnicodeScalarView(scalars[position...end]))
    guard case .string(let text)? = try? FieldValue(parsing: quote) else {
      throw fault("there is no such escape in the quote")
    }
    position = end + 1
    skipSpaces()
    return text
  }
}
