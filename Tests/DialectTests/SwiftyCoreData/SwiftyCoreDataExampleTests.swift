import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

private struct Tag: Codable, Equatable {
  var name: String
}

/// The record as version 1 of a program has it.
private enum First {
  struct TodoItem: Record, Equatable {
    var id = UUID()
    var creationDate = Date(timeIntervalSinceReferenceDate: 0)
    var title: String
    var contents: String
    var tag: Tag?
    var isCompleted = false

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "creationDate", type: .date)
      Field(name: "title", type: .string)
      Field(name: "contents", type: .string)
      Field(name: "tag", type: .transformable, optional: true)
      Field(name: "isCompleted", type: .boolean)
    }
  }
}

// The blocks of the article as they are there, and ours beside them: `Scripts/kept-lines` counts the lines that are kept.

private typealias TODOItem = WithURL.TodoItem

private struct Indicator: Record, Identifiable, Equatable {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    if version > 1 { Field(primaryKey: true, name: "id", type: .integer) }
  }
}

private func openedAsInTheArticle() throws -> PersistentStore {
  // Theirs:
  // | let store = PersistentStore(version: 2, model: StoreModel(records: [
  // |     TODOItem.self, Indicator.self
  // | ]))
  // Ours:
  let store = try PersistentStore(
    version: 2,
    model: StoreModel(records: [
      TODOItem.self, Indicator.self,
    ]))
  // End of ours.
  return store
}

private enum WithURL {
  // Theirs:
  // | struct TodoItem: Record {
  // |     var id = UUID()
  // |     var creationDate = Date()
  // |     var title: String
  // |     var contents: String
  // |     var tag: Tag?
  // |     var isCompleted: Bool
  // |     var newProperty: URL?
  // |
  // |     static func recordDescription(for version: Int) -> RecordDescription {
  // |         Field(primaryKey: true, name: "id", type: .uuid)
  // |         Field(name: "creationDate", type: .uuid)
  // |         Field(name: "title", type: .string)
  // |         Field(name: "contents", type: .string)
  // |         Field(name: "tag", type: .transformable, optional: true)
  // |         Field(name: "isCompleted", type: .boolean)
  // |
  // |         if version > 1 {
  // |             Field(name: "newProperty", type: .url, optional: true)
  // |         }
  // |     }
  // | }
  // Ours:
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
      Field(name: "creationDate", type: .date)
      Field(name: "title", type: .string)
      Field(name: "contents", type: .string)
      Field(name: "tag", type: .transformable, optional: true)
      Field(name: "isCompleted", type: .boolean)

      if version > 1 {
        Field(name: "newProperty", type: .url, optional: true)
      }
    }
  }
  // End of ours.
}

private enum WithNumber {
  // Theirs:
  // | struct TodoItem: Record {
  // |     var id = UUID()
  // |     var creationDate = Date()
  // |     var title: String
  // |     var contents: String
  // |     var tag: Tag?
  // |     var isCompleted: Bool
  // |     var newProperty: Double
  // |
  // |     static func recordDescription(for version: Int) -> RecordDescription {
  // |         Field(primaryKey: true, name: "id", type: .uuid)
  // |         Field(name: "creationDate", type: .uuid)
  // |         Field(name: "title", type: .string)
  // |         Field(name: "contents", type: .string)
  // |         Field(name: "tag", type: .transformable, optional: true)
  // |         Field(name: "isCompleted", type: .boolean)
  // |
  // |         if version > 1 {
  // |             Field(name: "newProperty", type: .double, migrationInfo: .init(default: 10.5))
  // |         }
  // |     }
  // | }
  // Ours:
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
      Field(name: "creationDate", type: .date)
      Field(name: "title", type: .string)
      Field(name: "contents", type: .string)
      Field(name: "tag", type: .transformable, optional: true)
      Field(name: "isCompleted", type: .boolean)

      if version > 1 {
        Field(name: "newProperty", type: .double, migrationInfo: .init(default: 10.5))
      }
    }
  }
  // End of ours.
}

private enum Renamed {
  // Theirs:
  // | struct TodoItem: Record {
  // |     var id = UUID()
  // |     var creationDate = Date()
  // |     var name: String
  // |     var contents: String
  // |     var tag: Tag?
  // |     var isCompleted: Bool
  // |
  // |     static func recordDescription(for version: Int) -> RecordDescription {
  // |         Field(primaryKey: true, name: "id", type: .uuid)
  // |         Field(name: "creationDate", type: .uuid)
  // |         Field(name: "contents", type: .string)
  // |         Field(name: "tag", type: .transformable, optional: true)
  // |         Field(name: "isCompleted", type: .boolean)
  // |
  // |         if version < 2 {
  // |             Field(name: "title", type: .string)
  // |         } else if version > 1 {
  // |             Field(name: "name", type: .string, migrationInfo: .init(renamingID: "title"))
  // |         }
  // |     }
  // | }
  // Ours:
  struct TodoItem: Record {
    var id = UUID()
    var creationDate = Date()
    var name: String
    var contents: String
    var tag: Tag?
    var isCompleted: Bool

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "creationDate", type: .date)
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
  // End of ours.
}

/// As the article has it: a date that is declared as a UUID.
private enum Misdeclared {
  struct TodoItem: Record {
    var id = UUID()
    var creationDate = Date()

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "creationDate", type: .uuid)
    }
  }
}

extension WithURL.TodoItem: Equatable {}

/// The examples of SwiftyCoreData's article on migration, in its order, each on data of its version and of the one after.
@Suite struct SwiftyCoreDataExampleTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private let first = First.TodoItem(title: "title", contents: "contents", tag: Tag(name: "tag"))

  private func makeStore() throws {
    let store = try PersistentStore(at: path, model: StoreModel(records: [First.TodoItem.self]))
    try store.save(first)
    try store.close()
  }

  private func open(_ records: any Record.Type...) throws -> PersistentStore {
    try PersistentStore(at: path, version: 2, model: StoreModel(records: records))
  }

  @Test
  func `SwiftyCoreData: a store is opened with a version alone, in the current directory`()
    async throws
  {
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      try #require(unsafe chdir(path) == 0)
      let old = try PersistentStore(
        at: "PersistentStore.cambium", model: StoreModel(records: [First.TodoItem.self]))
      let first = First.TodoItem(title: "title", contents: "contents")
      try old.save(first)
      try old.close()
      let store = try openedAsInTheArticle()
      #expect(store.schema.version == 2 && store.path.hasSuffix("PersistentStore.cambium"))
      #expect(try store.fetch(TODOItem.self, key: first.id)?.title == "title")
      try store.close()
    }
  }

  @Test func `a version beside a model is one that its types describe`() throws {
    let model = StoreModel([
      ModelVersion(1, records: [First.TodoItem.self]),
      ModelVersion(2, records: [WithURL.TodoItem.self]),
    ])
    try makeStore()
    try PersistentStore(at: path, version: 2, model: model).close()
    for version in [1, 3] {
      let error = #expect(throws: StoreError.self) {
        try PersistentStore(at: path, version: version, model: model)
      }
      #expect(error.map { "\($0)" }?.contains("the newest is 2, not \(version)") == true)
    }
    // The label is of another version.
    let labelled = StoreModel(version: 1, label: "one", records: [WithURL.TodoItem.self])
    let store = try PersistentStore(at: path, version: 2, model: labelled)
    #expect(store.schema.version == 2 && store.schema.label == nil)
    try store.close()
  }

  @Test func `SwiftyCoreData: a date that is declared as a UUID is refused`() throws {
    let error = #expect(throws: StoreError.self) { try open(Misdeclared.TodoItem.self) }
    guard case .invalidDescription("TodoItem", "creationDate", 2, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  // MARK: Adding properties

  @Test func `SwiftyCoreData: a new optional property is one more field`() throws {
    try makeStore()
    // Theirs matches no store if a type is new: Indicator is.
    let store = try open(WithURL.TodoItem.self, Indicator.self)
    var item = try #require(try store.fetch(WithURL.TodoItem.self, key: first.id))
    #expect(item.title == "title" && item.tag == Tag(name: "tag") && item.newProperty == nil)
    item.newProperty = URL(string: "https://swift.org")
    try store.save(item)
    #expect(try store.fetch(WithURL.TodoItem.self) == [item])
    #expect(try store.count(Indicator.self) == 0)
    try store.close()
  }

  @Test func `SwiftyCoreData: a new property that is not optional has a default`() throws {
    try makeStore()
    let store = try open(WithNumber.TodoItem.self)
    #expect(try store.fetch(WithNumber.TodoItem.self).map(\.newProperty) == [10.5])
    try store.close()
  }

  // MARK: Renaming

  @Test func `SwiftyCoreData: a renamed property states its name before`() throws {
    // Its first version is described by the same block, with the property of today.
    let old = try PersistentStore(at: path, model: StoreModel(records: [Renamed.TodoItem.self]))
    let item = Renamed.TodoItem(name: "title", contents: "", isCompleted: true)
    try old.save(item)
    #expect(try old.fetch(Renamed.TodoItem.where { $0.name == "title" }).map(\.id) == [item.id])
    #expect(try old.fetch(record: "TodoItem", key: item.id)?["title"] == "title")
    try old.close()
    let store = try open(Renamed.TodoItem.self)
    #expect(try store.fetch(Renamed.TodoItem.self).map(\.name) == ["title"])
    try store.close()
  }

  // MARK: Migration happens in steps

  private struct Counted: Record, Identifiable, Equatable {
    var id: Int
    var steps: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "steps", type: .string)
      RecordModifier("\(version)")
    }
  }

  @Test func `SwiftyCoreData: from version 2 to 4 data are migrated to 3, and then to 4`() throws {
    func model(_ version: Int) -> StoreModel {
      StoreModel(version: version, records: [Counted.self])
    }
    let old = try PersistentStore(at: path, model: model(2))
    try old.save(Counted(id: 1, steps: "2"))
    try old.close()
    let steps = [3, 4].map { version in
      MigrationStep(to: version) {
        UpdateRecord("Counted") {
          UpdateField("steps", by: { old in "\(try old.as(String.self) ?? ""), \(version)" })
        }
      }
    }
    let store = try PersistentStore(at: path, model: model(4), steps: steps)
    #expect(try store.fetch(Counted.self) == [Counted(id: 1, steps: "2, 3, 4")])
    try store.close()
  }

  // MARK: Changing optionality

  private struct ItemOfOptions: Record, Identifiable, Equatable {
    var id = UUID()
    var title: String?
    var tag: Tag
    var isCompleted: Bool

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("TodoItem")
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "title", type: .string, optional: version > 1)
      Field(
        name: "tag", type: .transformable, optional: version == 1,
        migrationInfo: .init(default: Tag(name: "none")))
      Field(name: "isCompleted", type: .boolean)
      if version == 1 {
        Field(name: "creationDate", type: .date)
        Field(name: "contents", type: .string)
      }
    }
  }

  @Test
  func `SwiftyCoreData: optional becomes required and the other way, and properties are removed`()
    throws
  {
    try makeStore()
    let old = try PersistentStore(at: path, model: StoreModel(records: [First.TodoItem.self]))
    try old.save(First.TodoItem(title: "untagged", contents: ""))
    try old.close()
    let store = try open(ItemOfOptions.self)
    let items = try store.fetch(ItemOfOptions.sorted(by: .ascending(\.title)))
    #expect(items.map(\.title) == ["title", "untagged"])
    #expect(items.map(\.tag.name) == ["tag", "none"])
    try store.close()
  }

  // MARK: What they do not support

  private struct Task: Record, Identifiable, Equatable {
    var id = UUID()
    var title: String
    var isCompleted: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      if version > 1 { RecordName("Task", renamingID: "TodoItem") } else { RecordName("TodoItem") }
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "title", type: .string)
      Field(name: "isCompleted", type: version > 1 ? .integer : .boolean)
      if version == 1 {
        Field(name: "creationDate", type: .date)
        Field(name: "contents", type: .string)
        Field(name: "tag", type: .transformable, optional: true)
      }
    }
  }

  @Test
  func `SwiftyCoreData: a type is changed and a record renamed, which theirs does not support`()
    throws
  {
    try makeStore()
    let step = MigrationStep(to: 2) {
      UpdateRecord("Task") {
        UpdateField("isCompleted", by: { old in try old.as(Bool.self) == true ? 1 : 0 })
      }
    }
    let store = try PersistentStore(
      at: path, model: StoreModel(version: 2, records: [Task.self]), steps: [step])
    #expect(try store.fetch(Task.self) == [Task(id: first.id, title: "title", isCompleted: 0)])
    try store.close()
  }

  // MARK: Transformables

  /// The tag has another shape, which is read by hand, as theirs is.
  private struct ColoredTag: Codable, Equatable {
    var name: String
    var color: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      color = try container.decodeIfPresent(String.self, forKey: .color) ?? "red"
    }
  }

  private struct ItemWithColor: Record, Identifiable, Equatable {
    var id = UUID()
    var creationDate: Date
    var title: String
    var contents: String
    var tag: ColoredTag?
    var isCompleted: Bool

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("TodoItem")
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "creationDate", type: .date)
      Field(name: "title", type: .string)
      Field(name: "contents", type: .string)
      // The meaning of stored values has changed: the modifier makes it a difference.
      Field(
        name: "tag", type: .transformable, optional: true, modifier: version > 1 ? "colored" : nil)
      Field(name: "isCompleted", type: .boolean)
    }
  }

  @Test func `SwiftyCoreData: transformable structs are migrated by decoding by hand`() throws {
    try makeStore()
    let store = try open(ItemWithColor.self)
    var item = try #require(try store.fetch(ItemWithColor.self, key: first.id))
    #expect(item.tag?.color == "red")
    item.tag?.color = "blue"
    try store.save(item)
    #expect(try store.fetch(ItemWithColor.self, key: first.id) == item)
    try store.close()
  }
}
