import Cambium

extension Item: Record {
  /// Each version has other indexes, and is the raw value of those `RecordIndexes`.
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "created", type: .date)
    Field(name: "title", type: .string)
    Field(name: "body", type: .string)
    Field(name: "count", type: .integer)
    Field(name: "weight", type: .double)
    Field(name: "isDone", type: .boolean)
    Field(name: "note", type: .string, optional: true)
    if version >= 2 {
      Index("created")
      Index("title")
    }
    if version >= 3 { Index("count") }
  }
}
