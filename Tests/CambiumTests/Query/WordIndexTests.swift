import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record whose words are indexed in every way. Of version 1, it has no indexes.
private struct Article: Record, Hashable {
  var id: Int
  var group = 0
  var body: String?
  var title = ""

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "group", type: .integer)
    Field(name: "body", type: .string, optional: true)
    Field(name: "title", type: .string)
    if version > 1 {
      Index(.words("body"))
      Index("group", .words("body"), named: "groupBody")
      Index(
        .words("title"), .descending("group"), named: "titles",
        where: .comparison(field: "group", .less, 2))
      Index("body", named: "whole")
    }
  }

  static let model = StoreModel(version: 2, records: [Article.self])
}

/// A record whose primary key has words.
private struct Label: Record, Hashable {
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "name", type: .string)
    Index(.words("name"))
  }
}

/// Random texts of few words, and what they are found by, which is known because they are put together here.
private struct Texts {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// As they are in lowercase.
  private static let words = [
    "a", "ab", "abc", "b", "swift", "store", "stored", "é", "e\u{301}", "привет", "东", "x1", "z",
    String(repeating: "l", count: 64),
  ]

  private mutating func number(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
  mutating func chance(_ count: Int) -> Bool { number(count) == 0 }
  private mutating func one<Value>(of values: [Value]) -> Value { values[number(values.count)] }

  private mutating func word() -> String {
    // The first are the most frequent.
    Self.words[min(number(Self.words.count), number(Self.words.count))]
  }

  /// A word as somebody may write it.
  private mutating func written(_ word: String) -> String {
    let word = word.count == 64 && chance(2) ? word + "longer" : word
    switch number(3) {
    case 0: return word.uppercased()
    default: return word
    }
  }

  private mutating func joined(_ words: [String]) -> String {
    var text = ""
    for word in words { text += written(word) + one(of: [" ", ", ", "\n", " – ", "! ", "🙂"]) }
    return text
  }

  /// A text, and its words.
  mutating func text() -> (text: String, words: Set<[UInt8]>) {
    let words = (0..<number(6)).map { _ in word() }
    return (joined(words), Set(words.map { Array($0.utf8) }))
  }

  /// The words of a query, and whether a text has them.
  mutating func query() -> (text: String, isMet: (Set<[UInt8]>) -> Bool) {
    var text = ""
    var tests: [(Set<[UInt8]>) -> Bool] = []
    for _ in 0..<one(of: [0, 1, 1, 2, 2, 3, 4]) {
      let word = word()
      if chance(3) {
        let count = number(word.unicodeScalars.count) + 1
        let start = String(String.UnicodeScalarView(word.unicodeScalars.prefix(count)))
        text += start + one(of: ["* ", "*", "*, "])
        tests.append { words in words.contains { $0.starts(with: Array(start.utf8)) } }
      } else {
        text += joined([word])
        tests.append { $0.contains(Array(word.utf8)) }
      }
    }
    return (text, { words in tests.allSatisfy { $0(words) } })
  }

  mutating func article(_ id: Int) -> (Article, WordedArticle) {
    let (body, title) = (text(), text())
    let article = Article(
      id: id, group: number(4), body: chance(6) ? nil : body.text, title: title.text)
    return (
      article,
      WordedArticle(
        article: article, body: article.body == nil ? nil : body.words, title: title.words)
    )
  }
}

private struct WordedArticle {
  let article: Article
  let body: Set<[UInt8]>?
  let title: Set<[UInt8]>
}

/// A store of articles, and what is in it.
private struct ArticleWorld {
  var texts: Texts
  var articles: [Int: WordedArticle] = [:]

  init(seed: UInt64) { texts = Texts(seed: seed) }

  mutating func write(_ count: Int, to store: PersistentStore) throws {
    try store.write { transaction in
      for _ in 0..<count {
        let id = Int(texts.random.next() % 60)
        if texts.chance(4) {
          try transaction.delete(Article.self, key: id)
          articles[id] = nil
        } else {
          let (article, worded) = texts.article(id)
          try transaction.save(article)
          articles[id] = worded
        }
      }
    }
  }

  /// Compares what every plan finds and counts with what is known to be there.
  mutating func compare(_ store: PersistentStore, queries: Int) throws -> Int {
    let trees = try store.snapshot().trees
    let record = try store.entities.entity(named: "Article")
    let layout = record.layout
    let runner = QueryRunner(record, in: RecordReader(entities: store.entities, trees: trees))
    var indexPlans = 0
    for _ in 0..<queries {
      let (query, expected) = query()
      let (_, candidates) = try runner.planner().candidates(query, for: .records)
      for forced in [nil] + candidates.indices.map({ Optional($0) }) {
        let found = try runner.find(query, forced: forced)
        var ids: [Int] = []
        while try found.next() {
          let row = try RowReader(key: found.key, row: try found.row(), layout: layout)
          guard case .integer(let id) = try row.keyValue(0) else { break }
          ids.append(Int(id))
        }
        try agree(
          ids == expected, "\(ids), not \(expected), of \(query), plan \(found.plan.access)")
      }
      indexPlans += candidates.count - 1
      let count = try runner.count(query)
      try agree(count == expected.count, "\(count), not \(expected.count), of \(query)")
    }
    return indexPlans
  }

  private mutating func query() -> (FieldQuery, ids: [Int]) {
    let (text, isMet) = texts.query()
    let isOfTitle = texts.chance(3)
    let field = isOfTitle ? "title" : "body"
    var condition = FieldCondition.match(field: field, TextMatch(.words, text))
    var isFound: (WordedArticle) -> Bool = { article in
      (isOfTitle ? article.title : article.body).map(isMet) ?? false
    }
    let inner = isFound
    switch texts.random.next() % 6 {
    case 0:
      condition = .and([condition, .comparison(field: "group", .equal, 1)])
      isFound = { inner($0) && $0.article.group == 1 }
    case 1:
      condition = .and([.comparison(field: "group", .less, 2), condition])
      isFound = { inner($0) && $0.article.group < 2 }
    case 2:
      let (other, isOtherMet) = texts.query()
      condition = .or([condition, .match(field: "body", TextMatch(.words, other))])
      isFound = { inner($0) || $0.body.map(isOtherMet) ?? false }
    case 3:
      condition = .not(condition)
      isFound = { !inner($0) }
    default: break
    }
    var query = FieldQuery(condition: condition)
    var found = articles.values.filter(isFound).map(\.article).sorted { $0.id < $1.id }
    if texts.chance(3) {
      query.order = [FieldOrder(field: "group", isDescending: true)]
      found.sort { ($0.group, -$0.id) > ($1.group, -$1.id) }
    }
    if texts.chance(3) { query.offset = 2 }
    if texts.chance(2) { query.limit = 3 }
    let left = found.dropFirst(query.offset)
    return (query, (query.limit.map { left.prefix($0) } ?? left).map(\.id))
  }
}

@Suite struct WordIndexTests {
  @Test(arguments: 0..<2)
  func `every plan finds the texts that have all words of a query`(shard: Int) {
    replaying(Seeds.range(scaled(40, debug: 3), shard: 90 + shard)) { seed in
      let store = try PersistentStore(inMemory: Article.model)
      var world = ArticleWorld(seed: seed)
      var planCount = 0
      for count in [0, 1, 5, 60, 100] {
        try world.write(count, to: store)
        planCount += try world.compare(store, queries: scaled(100, debug: 30))
        try store.expectSound()
      }
      try agree(planCount > 100, "\(planCount) plans with an index only")
    }
  }

  @Test(arguments: [MigrationMode.automatic, .deferred])
  func `indexes of words that come with a migration have what was there`(mode: MigrationMode) {
    replaying(Seeds.range(scaled(10, debug: 2), shard: 92)) { seed in
      let directory = try TemporaryDirectory()
      let path = directory.path + "/store"
      var world = ArticleWorld(seed: seed)
      let first = try PersistentStore(
        at: path, model: StoreModel(version: 1, records: [Article.self]))
      try world.write(200, to: first)
      _ = try world.compare(first, queries: 20)
      try first.close()
      let store = try PersistentStore(at: path, model: Article.model, migration: mode)
      _ = try world.compare(store, queries: 20)
      while try store.finishMigration(budget: .records(7)) {
        try world.write(3, to: store)
        _ = try world.compare(store, queries: 10)
      }
      let planCount = try world.compare(store, queries: 50)
      try agree(planCount > 20, "\(planCount) plans with an index only")
      try store.expectSound()
      try store.close()
      let again = try PersistentStore(at: path, model: Article.model, migration: .refuse)
      _ = try world.compare(again, queries: 20)
      try again.expectSound()
      try again.close()
    }
  }

  private func makeStore() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: Article.model)
    try store.write { transaction in
      for id in 0..<200 {
        let body =
          id == 199 ? nil : "common \(id % 10 == 0 ? "Tenth" : "other") number\(id) \(id % 2)."
        try transaction.insert(Article(id: id, body: body, title: "title \(id)"))
      }
    }
    return store
  }

  @Test func `a query begins with its rarest word, and says so`() throws {
    let store = try makeStore()
    let all = try store.explain(Article.where { $0.body.matches("common") }).description
    #expect(all.contains(#"all rows"#), "\(all)")
    let query = Article.where { $0.body.matches("Common TENTH") }
    let explained = try store.explain(query, running: true).description
    #expect(
      explained.hasPrefix(
        #"Article: intersection of index words(body) of "tenth" in one range, "#
          + #"index words(body) of "common" in one range, about 40 entries"#), "\(explained)")
    #expect(!explained.contains("then only where"), "\(explained)")
    #expect(
      explained.contains(#"not index words(body) of "tenth" in one range: 20"#), "\(explained)")
    let rare = try store.explain(Article.where { $0.body.matches("common number7") }).description
    #expect(
      rare.hasPrefix(
        #"Article: index words(body) of "number7" in one range, about 1 entries"#), "\(rare)")
    #expect(rare.contains(#"then only where body matches "common""#), "\(rare)")
    let prefix = try store.explain(Article.where { $0.body.matches("number19*") }).description
    #expect(
      prefix.hasPrefix(
        #"Article: index words(body) of "number19*" in one range, about 10 entries"#),
      "\(prefix)")
    let grouped = try store.explain(
      Article.where { $0.group == 0 && $0.body.matches("number7") }
    ).description
    #expect(grouped.contains(#"of "number7" in one range, about 1 entries"#), "\(grouped)")
    // Without a word there is nothing to begin with.
    #expect(try store.explain(Article.where { $0.body.matches("?!") }).access == "all rows")
  }

  @Test func `a text without words is met by all but null`() throws {
    let store = try makeStore()
    #expect(try store.count(Article.where { $0.body.matches("") }) == 199)
    #expect(try store.count(Article.where { $0.body.matches(" *! ") }) == 199)
    #expect(try store.count(Article.where { !$0.body.matches("") }) == 1)
    #expect(try store.count(Article.where { !$0.body.matches("common") }) == 1)
  }

  @Test func `conditions by Swift, by name and as text find the same`() throws {
    let store = try makeStore()
    let expected = Array(stride(from: 0, to: 199, by: 10))
    #expect(
      try store.fetch(Article.where { $0.body.matches("tenth common") }).map(\.id) == expected)
    let condition = try FieldCondition(parsing: #"body matches "tenth comm*""#)
    #expect(condition.description == #"body matches "tenth comm*""#)
    #expect(
      try store.fetch(record: "Article", where: condition).map { $0["id"] }
        == expected.map { .integer(Int64($0)) })
    // Without diacritics no index is asked, and the answer is the same.
    let folded = try FieldCondition(parsing: #"body matches[d] "ténth""#)
    #expect(try store.count(record: "Article", where: folded) == expected.count)
    #expect(try store.count(Article.where { $0.body.matches("ténth") }) == 0)
  }

  @Test func `pages of a query by words are turned`() throws {
    let store = try makeStore()
    var ids: [Int] = []
    var last: Article?
    while true {
      let page = try store.fetch(Article.where { $0.body.matches("tenth") }.limit(3), after: last)
      guard let end = page.last else { break }
      ids += page.map(\.id)
      last = end
    }
    #expect(ids == Array(stride(from: 0, to: 199, by: 10)))
  }

  @Test func `what is changed or deleted by words is so once, and found by its new words`() throws {
    let store = try makeStore()
    let changed = try store.update(Article.where { $0.body.matches("tenth number*") }) { article in
      article.body = "zebra tenth \(article.id)"
    }
    #expect(changed == 20)
    #expect(try store.count(Article.where { $0.body.matches("zebra") }) == 20)
    #expect(try store.count(Article.where { $0.body.matches("tenth common") }) == 0)
    #expect(try store.delete(Article.where { $0.body.matches("zebra 0") }) == 1)
    #expect(try store.delete(Article.where { $0.body.matches("z* t*") }) == 19)
    #expect(try store.count(Article.self) == 180)
    try store.expectSound()
  }

  @Test func `results of a query by words are observed`() async throws {
    let store = try makeStore()
    let told = Told(by: try store.results(of: Article.where { $0.body.matches("tenth number1*") }))
    #expect(
      try await told.next()?.records.map(\.id) == [
        10, 100, 110, 120, 130, 140, 150, 160, 170, 180, 190,
      ])
    try await store.write { transaction in
      _ = try transaction.update(Article.where { $0.id == 10 }) { $0.body = "ninth number1" }
      _ = try transaction.update(Article.where { $0.id == 11 }) { $0.body = "tenth number1" }
    }
    #expect(try await told.next()?.records.map(\.id).prefix(2) == [11, 100])
    try await store.close()
  }

  @Test func `the words of a primary key are found`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Label.self]))
    let names = ["Swift store", "swift", "Store\0room", ""] + (0..<100).map { "label \($0)" }
    try store.write { try $0.insert(contentsOf: names.map { Label(name: $0) }) }
    let found = try store.fetch(Label.where { $0.name.matches("sto*") })
    #expect(found.map(\.name) == ["Store\0room", "Swift store"])
    let explained = try store.explain(Label.where { $0.name.matches("swift") })
    #expect(explained.access.hasPrefix("index"))
    try store.expectSound()
  }

  @Test func `the check finds an entry that is missing, and one that is too many`() throws {
    for isMissing in [true, false] {
      let store = try makeStore()
      let entity = try store.entities.entity(named: "Article")
      let index = try #require(entity.indexes.first { $0.layout.schema.name == "words(body)" })
      struct Undo: Error {}
      #expect(throws: Undo.self) {
        try store.write { transaction in
          let trees = transaction.writer.trees
          let key = Bytes("tenth".utf8) + [0, 0, 0x80, 0, 0, 0, 0, 0, 0]
          let entry = key + [isMissing ? 10 : 11]
          if isMissing {
            let wasThere = try trees.remove(entry.rawSpan, in: index.slot)
            #expect(wasThere)
          } else {
            try trees.put(entry.rawSpan, Bytes().rawSpan, schemaVersion: 2, in: index.slot)
          }
          let faults = try RecordCheck.faults(of: [entity], in: .transaction(trees))
          #expect(faults.count == 1)
          throw Undo()
        }
      }
    }
  }
}
