import Cambium

extension Item: Record {
  /// Version 1 has no secondary indexes, version 3 has two, version 4 three: the same type is stored in these ways.
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "created", type: .date)
    Field(name: "title", type: .string)
    Field(name: "body", type: .string)
    Field(name: "count", type: .integer)
    Field(name: "weight", type: .double)
    Field(name: "isDone", type: .boolean)
    Field(name: "note", type: .string, optional: true)
    if version > 1 {
      Index("created")
      Index("title")
    }
    if version == 4 { Index("count") }
  }
}
