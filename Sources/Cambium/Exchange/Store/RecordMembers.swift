/// The members of the JSON objects that values of a Swift type are: as its properties nest. Those of its parents are in the
/// member that is called as the property of the parent.
///
///     {"trip": {"id": 1, "name": "Ulm"}, "perDiem": 80}   ─▶   id: 1, name: "Ulm", BusinessTrip: (perDiem: 80)
struct RecordMembers {
  private let name: String
  /// The struct of the type, then that of its parent, and so on.
  private let levels: [Level]

  private struct Level {
    let fields: [FieldShape]
    /// The property that has the next level; nil in the last one.
    let parent: String?
    /// The name of the composite that has the fields; nil for those of the record.
    let composite: String?
    /// The values that follow from the kind alone: its marker, and null for the kinds beside it.
    let given: [String: FieldValue]
  }

  init(_ record: RecordSchema, _ properties: PropertyFields) {
    name = record.name
    var path = ""
    var levels: [Level] = []
    for (index, level) in properties.levels.enumerated() {
      let composite = level.composite.flatMap { record.field(named: $0) }
      let fields = FieldShape.fields(of: composite?.number, in: record) {
        properties.propertyName(ofField: $0)
      }
      let start = (composite.map { $0.name + "." }) ?? ""
      var given: [String: FieldValue] = [:]
      for field in fields where record.isMarker(field.number) { given[field.name] = .boolean(true) }
      // Kinds below the type's own stay as they are.
      if index > 0 {
        for kind in record.kinds(of: composite?.number) {
          if let field = record.field(kind.composite) { given[field.lastName] = .null }
        }
      }
      levels.append(
        Level(
          fields: fields.filter { properties.isField(start + $0.name, of: path) },
          parent: level.property, composite: composite?.lastName, given: given))
      path += level.property.map { $0 + "." } ?? ""
    }
    self.levels = levels
  }

  /// Reads the values of a record's fields, as they nest in the record. Members that stand for no field are passed over.
  func values(of json: JSONValue) throws(JSONFault) -> [String: FieldValue] {
    var object: JSONValue? = json
    var values: [String: FieldValue] = [:]
    for (index, level) in levels.enumerated() {
      var own = level.given
      if let object {
        own.merge(
          try FieldValue.parts(object, of: level.fields, in: name, form: .codable)
        ) { _, new in new }
      }
      if index > 0 {
        let inner = levels[index - 1].composite
        if let inner, inner != level.composite {
          own[inner] = .composite(values)
        } else {
          own.merge(values) { _, new in new }
        }
      }
      values = own
      object = level.parent.flatMap { object?.member($0) }
    }
    return values
  }
}

extension JSONValue {
  /// The value of an object's member; nil if there is none.
  fileprivate func member(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }
}
