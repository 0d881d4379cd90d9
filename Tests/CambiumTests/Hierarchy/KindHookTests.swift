import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Hooks and validations: of the type that is written, and of its parents.
@Suite struct KindHookTests {
  private func store() throws -> PersistentStore {
    try PersistentStore(
      inMemory: StoreModel(records: [Task.self, Chore.self, Weekly.self, Entry.self]))
  }

  private func log(_ store: PersistentStore) throws -> [String] {
    try store.fetch(Entry.self).map(\.text)
  }

  @Test func `hooks of the parents run first, then those of the kind`() throws {
    let store = try store()
    try store.save(Weekly(chore: Chore(task: Task(id: 1, title: "wash"), room: "bath"), day: 3))
    #expect(try log(store) == ["insert task wash", "insert weekly 3"])
    #expect(try store.fetch(Task.self, key: 1)?.title == "WASH")
    try store.save(Weekly(chore: Chore(task: Task(id: 1, title: "dry"), room: "bath"), day: 4))
    #expect(
      try log(store).suffix(2) == ["update task WASH to dry", "update weekly 3 to 4"])
  }

  @Test func `over a record of another kind, the kind is inserted and the parent updated`() throws {
    let store = try store()
    try store.save(Chore(task: Task(id: 1, title: "wash"), room: "bath"))
    try store.save(Weekly(chore: Chore(task: Task(id: 1, title: "dry"), room: "bath"), day: 4))
    #expect(try log(store).suffix(2) == ["update task WASH to dry", "insert weekly 4"])
  }

  @Test func `hooks before deletion are those of the record's kind, whichever type deletes`() throws
  {
    for deletion in 0..<5 {
      let store = try store()
      try store.save(Weekly(chore: Chore(task: Task(id: 1, title: "wash"), room: "bath"), day: 3))
      try store.write { try $0.deleteAll(Entry.self) }
      switch deletion {
      case 0: #expect(try store.delete(Task.self, key: 1))
      case 1: #expect(try store.delete(Weekly.self, key: 1))
      case 2: #expect(try store.delete(Chore.where(.always)) == 1)
      case 3: try store.write { try $0.deleteAll(Task.self) }
      default: try store.write { try $0.deleteAll(Weekly.self) }
      }
      #expect(try log(store) == ["delete weekly 3", "delete task WASH"], "\(deletion)")
      #expect(try store.count(Task.self) == 0)
    }
  }

  @Test func `validations and rules of the parents hold for kinds`() throws {
    let store = try store()
    func refused(_ save: () throws -> Void) -> String {
      do { try save() } catch { return "\(error)" }
      return "saved"
    }
    #expect(
      refused { try store.save(Chore(task: Task(id: 1, title: ""), room: "bath")) }
        .contains("a title is not empty"))
    #expect(
      refused {
        try store.save(Weekly(chore: Chore(task: Task(id: 1, title: "x"), room: ""), day: 3))
      }.contains("Chore.room"))
    #expect(
      refused {
        try store.save(Weekly(chore: Chore(task: Task(id: 1, title: "x"), room: "y"), day: 9))
      }.contains("a week has seven days"))
    #expect(try store.count(Task.self) == 0)
  }

  @Test func `the hook after loading of a parent runs for the part of a kind that it is`() throws {
    let store = try store()
    try store.save(Weekly(chore: Chore(task: Task(id: 1, title: "wash"), room: "bath"), day: 3))
    let weekly = try store.fetch(Weekly.self, key: 1)
    #expect(weekly?.chore.task.isLoaded == true)
    #expect(weekly?.loads == 1)
    #expect(try store.fetch(Query<Weekly>()).first?.chore.task.isLoaded == true)
  }
}

private struct Entry: Record {
  var id: Int
  var text: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
  }

  static func add(_ text: String, _ transaction: inout WriteTransaction) throws {
    try transaction.insert(Entry(id: try transaction.count(Entry.self), text: text))
  }
}

private struct Task: Record {
  var id: Int
  var title: String
  var isLoaded = false

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "title", type: .string)
    Transient("isLoaded", default: false)
    Validation("a title is not empty") { (task: Task) in !task.title.isEmpty }
  }

  static var hooks: RecordHooks<Task> {
    RecordHooks(
      beforeInsert: { task, transaction in
        try Entry.add("insert task \(task.title)", &transaction)
        task.title = task.title.uppercased()
      },
      beforeUpdate: { task, old, transaction in
        try Entry.add("update task \(old.title) to \(task.title)", &transaction)
      },
      beforeDelete: { task, transaction in
        try Entry.add("delete task \(task.title)", &transaction)
      },
      afterLoad: { $0.isLoaded = true })
  }

  enum CodingKeys: CodingKey { case id, title }
}

private struct Chore: Record {
  var task: Task
  var room: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Task.self, property: "task")
    Field(name: "room", type: .string, validation: [.length(1...)])
  }
}

private struct Weekly: Record {
  var chore: Chore
  var day: Int
  var loads = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Chore.self, property: "chore")
    Field(name: "day", type: .integer)
    Transient("loads", default: 0)
    Validation("a week has seven days") { (weekly: Weekly) in weekly.day < 7 }
  }

  static var hooks: RecordHooks<Weekly> {
    RecordHooks(
      beforeInsert: { weekly, transaction in
        try Entry.add("insert weekly \(weekly.day)", &transaction)
      },
      beforeUpdate: { weekly, old, transaction in
        try Entry.add("update weekly \(old.day) to \(weekly.day)", &transaction)
      },
      beforeDelete: { weekly, transaction in
        try Entry.add("delete weekly \(weekly.day)", &transaction)
      },
      afterLoad: { $0.loads += 1 })
  }

  enum CodingKeys: CodingKey { case chore, day }
}
