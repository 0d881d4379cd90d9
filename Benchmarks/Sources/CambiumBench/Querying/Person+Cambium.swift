import Cambium

extension Person: Record {
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, indexed: true)
    Field(name: "city", type: .string)
    Field(name: "joined", type: .double, indexed: true)
    Field(name: "score", type: .double)
    Field(name: "level", type: .integer)
    Field(name: "weight", type: .double)
    Field(name: "note", type: .string, optional: true)
    Index("city", "score", named: "cityScore")
  }
}
