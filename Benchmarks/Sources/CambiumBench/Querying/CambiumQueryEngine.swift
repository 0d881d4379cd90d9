import Cambium

final class CambiumQueryEngine: QueryEngine {
  private let path: String
  private var store: PersistentStore

  init(directory: String) throws {
    path = directory
    store = try .relaxed(at: path, Person.self)
  }

  deinit {
    try? store.close()
  }

  func load(_ persons: [Person]) throws {
    for start in stride(from: 0, to: persons.count, by: 50_000) {
      try store.write { transaction in
        try transaction.insert(contentsOf: persons[start..<min(start + 50_000, persons.count)])
      }
    }
    // As the others' logs are copied back.
    try store.close()
    store = try .relaxed(at: path, Person.self)
  }

  func answer(_ workload: QueryWorkload, _ number: Int, of count: Int) throws -> QueryAnswer {
    switch workload {
    case .equality:
      let name = Person.name(number % count)
      return answer(try store.fetch(Person.where { $0.name == name }))
    case .range:
      let low = Double(number % (count * 9))
      return answer(
        try store.fetch(Person.where { $0.joined >= low && $0.joined < low + 1_000 }))
    case .prefix:
      let start = String(Person.name(number % count).dropLast(2))
      return answer(try store.fetch(Person.where { $0.name.hasPrefix(start) }))
    case .compound:
      let (city, low) = (Person.city(number % 100), Double(number % 9_000))
      return answer(
        try store.fetch(Person.where { $0.city == city && $0.score >= low && $0.score < low + 100 })
      )
    case .orderedTop:
      let high = Double(number % (count * 9) + count)
      return answer(
        try store.fetch(
          Person.where { $0.joined < high }.sorted(by: .descending(\.joined)).limit(20)))
    case .sortedTop:
      return answer(try store.fetch(Person.sorted(by: .descending(\.weight)).limit(20)))
    case .count:
      let low = Double(number % (count * 5))
      let found = try store.count(
        Person.where { $0.joined >= low && $0.joined < low + Double(count * 3) })
      return QueryAnswer(count: found)
    case .page:
      return answer(
        try store.fetch(
          Person.sorted(by: .ascending(\.joined)).limit(20)
            .offset(count / 5 + number % 1_000)))
    case .scan:
      let level = number % 100
      return answer(try store.fetch(Person.where { $0.level == level }))
    case .sum: return QueryAnswer(count: 1, sum: try store.sum(\Person.weight))
    case .group:
      let groups = try store.fetch(Query<Person>().grouped(by: \.city).computing(.sum(\.weight)))
      return groups.reduce(into: QueryAnswer()) { answer, group in
        answer.count += group.count
        answer.sum += group.value
      }
    }
  }

  private func answer(_ persons: [Person]) -> QueryAnswer {
    var answer = QueryAnswer()
    for person in persons { answer.add(person) }
    return answer
  }
}
