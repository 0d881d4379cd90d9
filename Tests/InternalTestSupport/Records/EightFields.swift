import FoundationEssentials

@testable import Cambium

struct EightFields: Record, Hashable {
  var id = UUID()
  var created = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
  var title = "a title"
  var body = "a body of some thirty characters"
  var count = 42
  var weight = 10.5
  var isDone = true
  var note: String? = "a note"

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "created", type: .date)
    Field(name: "title", type: .string)
    Field(name: "body", type: .string)
    Field(name: "count", type: .integer)
    Field(name: "weight", type: .double)
    Field(name: "isDone", type: .boolean)
    Field(name: "note", type: .string, optional: true)
  }
}
