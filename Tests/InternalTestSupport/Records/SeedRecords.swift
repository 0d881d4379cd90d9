import FoundationEssentials

@testable import Cambium

// The declarations that the programming model was first described with, as they stand there, in
// namespaces of their own.

struct Tag: Codable, Sendable, Hashable {
  var name = ""
}

enum OptionalAdded {
  struct TodoItem: Record {
    var id = UUID()
    var creationDate = Date()
    var title: String
    var contents: String
    var tag: Tag?
    var isCompleted: Bool
    var newProperty: URL?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "creationDate", type: .uuid)
      Field(name: "title", type: .string)
      Field(name: "contents", type: .string)
      Field(name: "tag", type: .transformable, optional: true)
      Field(name: "isCompleted", type: .boolean)

      if version > 1 {
        Field(name: "newProperty", type: .url, optional: true)
      }
    }
  }
}

enum RequiredAdded {
  struct TodoItem: Record {
    var id = UUID()
    var creationDate = Date()
    var title: String
    var contents: String
    var tag: Tag?
    var isCompleted: Bool
    var newProperty: Double

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "creationDate", type: .uuid)
      Field(name: "title", type: .string)
      Field(name: "contents", type: .string)
      Field(name: "tag", type: .transformable, optional: true)
      Field(name: "isCompleted", type: .boolean)

      if version > 1 {
        Field(name: "newProperty", type: .double, migrationInfo: .init(default: 10.5))
      }
    }
  }
}

enum Renamed {
  struct TodoItem: Record {
    var id = UUID()
    var creationDate = Date()
    var name: String
    var contents: String
    var tag: Tag?
    var isCompleted: Bool

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "creationDate", type: .uuid)
      Field(name: "contents", type: .string)
      Field(name: "tag", type: .transformable, optional: true)
      Field(name: "isCompleted", type: .boolean)

      if version < 2 {
        Field(name: "title", type: .string)
      } else if version > 1 {
        Field(name: "name", type: .string, migrationInfo: .init(renamingID: "title"))
      }
    }
  }
}
