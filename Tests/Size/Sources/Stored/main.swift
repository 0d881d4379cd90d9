import Cambium
import FoundationEssentials

struct TodoItem: Record, Identifiable {
  var id = UUID()
  var title: String
  var isDone = false

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "title", type: .string, indexed: true)
    Field(name: "isDone", type: .boolean)
  }
}

let store = try PersistentStore(at: "todo.cambium", model: StoreModel(records: [TodoItem.self]))
try store.save(TodoItem(title: "Buy milk"))
print(try store.fetch(TodoItem.where { $0.isDone == false }).map(\.title))
try store.close()
