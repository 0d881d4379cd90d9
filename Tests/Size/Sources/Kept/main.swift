import FoundationEssentials

struct TodoItem {
  var id = UUID()
  var title: String
  var isDone = false
}

var items: [TodoItem] = []
items.append(TodoItem(title: "Buy milk"))
print(items.filter { !$0.isDone }.map(\.title))
