import Cambium

extension Schema {
  var json: JSONValue {
    [
      "version": JSONValue(UInt64(version)), "label": JSONValue(label),
      "fingerprint": .string("\(fingerprint)"), "records": .array(records.map(\.json)),
    ]
  }
}

extension RecordSchema {
  fileprivate var json: JSONValue {
    [
      "name": .string(name), "fingerprint": .string("\(fingerprint)"),
      "fields": .array(
        fields.map { field in
          [
            "name": .string(field.name), "type": .string("\(field.type)"),
            "optional": .boolean(field.isOptional),
          ]
        }),
      "key": .array(primaryKey.map { part in json(of: part) }),
      "indexes": .array(
        indexes.map { index in
          [
            "name": .string(index.name), "unique": .boolean(index.isUnique),
            "parts": .array(index.parts.map { part in json(of: part) }),
            "condition": JSONValue(index.condition.map { "\($0)" }),
          ]
        }),
    ]
  }

  private func json(of part: KeyPart) -> JSONValue {
    [
      "field": .string(name(of: part)), "descending": .boolean(part.isDescending),
      "caseInsensitive": .boolean(part.isCaseInsensitive),
    ]
  }
}
