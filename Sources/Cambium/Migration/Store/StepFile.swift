// Steps that are kept in a file, as far as they need no closures.

extension StoreModel {
  /// Reads steps from a file, so that a program and the command `cambium migrate` take the same, and so that they can be used
  /// again.
  ///
  /// ```json
  /// [
  ///   { "to": 2, "label": "prices are numbers",
  ///     "records": {
  ///       "Item": {
  ///         "price": { "convert": { "replace": 0 } },
  ///         "city": { "path": "shop.address.city" },
  ///         "origin": { "value": "import" } } } }
  /// ]
  /// ```
  ///
  /// Each step has the version that it leads `to`. It may have the version that it leads `from`, if that is not the one before: a
  /// number, a fingerprint, or the first and the last of several as an array; a `label` and a `revision`; and `records`, with the
  /// names that they and their fields have afterwards. A field has one of these members:
  ///
  /// - `path`: as ``UpdateField/init(_:path:)``.
  /// - `convert`: as ``UpdateField/init(_:converting:)``, with `"refuse"`, `"setAside"` or `{"replace": value}`.
  /// - `value`: as ``UpdateField/init(_:value:)``.
  /// - `choose`: as ``UpdateField/init(_:choosing:)``, with `"first"`, `"last"`, `"only"`, `{"least": field}`,
  ///   `{"greatest": field}` or `{"all": field}`.
  ///
  /// Values are written as `cambium export` writes them. A migration that was interrupted goes on if the steps say the same then.
  ///
  /// - Returns: The steps, in the order of the text.
  /// - Throws: `StepFileError`; `StoreError.invalidDescription` if the model is wrong.
  public func steps(contentsOf path: String) throws -> [MigrationStep] {
    let text: String
    do throws(TextFile.Fault) {
      text = try TextFile.text(at: path)
    } catch {
      switch error {
      case .missing: throw StepFileError.missing(path: path)
      case .notUTF8: throw StepFileError.malformed(reason: "\(path) is not in UTF-8")
      case .io(let reason): throw StepFileError.io(path: path, reason: reason)
      }
    }
    return try steps(parsing: text)
  }

  /// Reads steps from a text, as `steps(contentsOf:)` does from a file.
  ///
  /// - Throws: `StepFileError`; `StoreError.invalidDescription` if the model is wrong.
  public func steps(parsing text: String) throws -> [MigrationStep] {
    let json: JSONValue
    do throws(JSONFault) {
      json = try JSONParser.parse(Array(text.utf8))
    } catch { throw StepFileError.malformed(reason: "\(error)") }
    var reader = StepReader(schemas: try schemas())
    let steps = reader.steps(json)
    if !reader.faults.isEmpty { throw StepFileError.invalid(reasons: reader.faults) }
    return steps
  }
}

/// Makes steps of JSON, and notes all that is wrong with it.
private struct StepReader {
  /// Of all versions of the model.
  let schemas: [Schema]
  private(set) var faults: [String] = []

  init(schemas: [Schema]) {
    self.schemas = schemas
  }

  mutating func steps(_ json: JSONValue) -> [MigrationStep] {
    guard case .array(let values) = json else {
      faults.append("they are an array: [ { \"to\": 2, … } ]")
      return []
    }
    var steps: [MigrationStep] = []
    for (index, value) in values.enumerated() {
      do throws(JSONFault) {
        steps.append(try step(value, "step \(index + 1)"))
      } catch { faults.append(error.reason) }
    }
    return steps
  }

  private mutating func step(_ json: JSONValue, _ place: String) throws(JSONFault) -> MigrationStep
  {
    let members = try json.members(["to", "from", "label", "revision", "records"], of: place)
    guard let to = members["to"]?.integer, let schema = schemas.first(where: { $0.version == to })
    else {
      throw JSONFault(
        reason: "\(place): \"to\" is a version of the model, 1 to \(schemas.count)")
    }
    let place = "the step to \(to)"
    if let label = members["label"], label.text == nil {
      throw JSONFault(reason: "\(place): its label, \(label), is no text")
    }
    if let revision = members["revision"], revision.integer == nil {
      throw JSONFault(reason: "\(place): its revision, \(revision), is no whole number")
    }
    let parts = try updates(members["records"] ?? [:], schema, place)
    return try MigrationStep(
      members["from"], to: to, label: members["label"]?.text,
      revision: members["revision"]?.integer ?? 0, parts, place)
  }

  /// Goes on after a fault, so that all are known.
  private mutating func updates(
    _ json: JSONValue, _ schema: Schema, _ place: String
  ) throws(JSONFault) -> [UpdateRecord] {
    var updates: [UpdateRecord] = []
    for (name, json) in try json.members(of: "\(place), its records").inOrder {
      guard let record = schema.record(named: name) else {
        let names = schema.records.map(\.name).joined(separator: ", ")
        faults.append("\(place): there is no record \(name) in that version; it has \(names)")
        continue
      }
      var fields: [UpdateField] = []
      for (field, json) in try json.members(of: "\(place), \(name)").inOrder {
        do throws(JSONFault) {
          guard let shape = FieldShape(named: field, in: record) else {
            let names = record.fields.map(\.name).joined(separator: ", ")
            throw JSONFault(reason: "there is no such field; it has \(names)")
          }
          fields.append(try UpdateField(field, json, shape))
        } catch { faults.append("\(place), \(name).\(field): \(error.reason)") }
      }
      updates.append(UpdateRecord(name) { for field in fields { field } })
    }
    return updates
  }
}

extension MigrationStep {
  fileprivate init(
    _ from: JSONValue?, to: Int, label: String?, revision: Int, _ updates: [UpdateRecord],
    _ place: String
  ) throws(JSONFault) {
    func parts() -> [Part] { updates.map { Part(kind: .update($0)) } }
    if let version = from?.integer {
      self.init(from: version, to: to, label: label, revision: revision, parts)
    } else if let versions = from?.versions {
      self.init(squashing: versions, to: to, label: label, revision: revision, parts)
    } else if let fingerprint = from?.text.flatMap({ Fingerprint($0) }) {
      self.init(from: fingerprint, to: to, label: label, revision: revision, parts)
    } else if from == nil {
      self.init(to: to, label: label, revision: revision, parts)
    } else {
      throw JSONFault(
        reason:
          "\(place): \"from\" is a version, the first and the last of several, such as [1, 3], or a fingerprint"
      )
    }
  }
}

extension UpdateField {
  fileprivate init(_ name: String, _ json: JSONValue, _ field: FieldShape) throws(JSONFault) {
    let members = try json.members(["path", "convert", "value", "choose"], of: "its source")
    guard let (kind, source) = members.first, members.count == 1 else {
      throw JSONFault(
        reason: "it has one source: \"path\", \"convert\", \"value\" or \"choose\"")
    }
    switch kind {
    case "path":
      guard let path = source.text else { throw JSONFault(reason: "\(source) is no path") }
      self.init(name, path: path)
    case "convert": self.init(name, converting: try ConversionPolicy(source, field))
    case "choose": self.init(name, choosing: try ElementChoice(source))
    default: self.init(name, value: try FieldValue(source, of: field))
    }
  }
}

extension ConversionPolicy {
  fileprivate init(_ json: JSONValue, _ field: FieldShape) throws(JSONFault) {
    switch json {
    case "refuse": self = .refuse
    case "setAside": self = .setAside
    default:
      guard case .object(let members) = json, members.count == 1, members[0].name == "replace"
      else {
        throw JSONFault(
          reason:
            "it is converted by \"refuse\", \"setAside\" or { \"replace\": … }, not by \(json)")
      }
      self = .replace(try FieldValue(members[0].value, of: field))
    }
  }
}

extension ElementChoice {
  fileprivate init(_ json: JSONValue) throws(JSONFault) {
    switch json {
    case "first": self = .first
    case "last": self = .last
    case "only": self = .only
    default:
      guard case .object(let members) = json, members.count == 1,
        let field = members[0].value.text,
        let choice = Self.named(members[0].name, of: field)
      else {
        throw JSONFault(
          reason:
            "an element is chosen by \"first\", \"last\", \"only\", { \"least\": field }, { \"greatest\": field } or { \"all\": field }, not by \(json)"
        )
      }
      self = choice
    }
  }

  private static func named(_ name: String, of field: String) -> ElementChoice? {
    switch name {
    case "least": .least(by: field)
    case "greatest": .greatest(by: field)
    case "all": .all(in: field)
    default: nil
    }
  }
}

extension JSONValue {
  /// The versions from one to another; nil if it is not two.
  fileprivate var versions: ClosedRange<Int>? {
    guard case .array(let ends) = self, ends.count == 2, let first = ends[0].integer,
      let last = ends[1].integer, first <= last
    else { return nil }
    return first...last
  }

  /// The members of an object by their names.
  ///
  /// - Parameters:
  ///   - names: The names that there are; nil for any.
  ///   - place: What the object is, for faults.
  fileprivate func members(
    _ names: [String]? = nil, of place: String
  ) throws(JSONFault) -> [String: JSONValue] {
    guard case .object(let members) = self else {
      throw JSONFault(reason: "\(place): \(self) is no object")
    }
    var values: [String: JSONValue] = [:]
    for member in members {
      if let names, !names.contains(member.name) {
        let known = names.map(\.quoted).joined(separator: ", ")
        throw JSONFault(
          reason: "\(place): there is no member \(member.name.quoted); it may have \(known)")
      }
      guard values.updateValue(member.value, forKey: member.name) == nil else {
        throw JSONFault(reason: "\(place): \(member.name.quoted) is there twice")
      }
    }
    return values
  }
}

extension [String: JSONValue] {
  fileprivate var inOrder: [(key: String, value: JSONValue)] {
    sortedRarely { $0.key.precedes($1.key) }
  }
}
