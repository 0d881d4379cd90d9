import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record with a validation of each kind and every hook. What hooks saw is kept in a list.
private struct Post: Record, Equatable {
  var id: Int
  // What the struct itself fills in, each time anew.
  var token = UUID()
  var title: String
  var slug: String
  var words = 1
  var loads = 0

  static let seen = Seen()

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "token", type: .uuid)
    Field(name: "title", type: .string, validation: [.length(1...20)])
    Field(name: "slug", type: .string, unique: true, validation: [.pattern("^[a-z0-9]+$")])
    Field(
      name: "words", type: .integer,
      validation: [.range(1...), .predicate("odd") { $0 != .integer(2) }])
    Transient("loads", default: 0)
    Validation("a title is not its slug") { (post: Post) in post.title != post.slug }
  }

  static var hooks: RecordHooks<Post> {
    RecordHooks(
      beforeInsert: { post, _ in
        if post.title == "refused" { throw Refusal() }
        post.slug = String(
          decoding: post.slug.utf8.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        seen.add("insert \(post.id)")
      },
      beforeUpdate: { post, old, _ in
        if post.title == "refused" { throw Refusal() }
        seen.add("update \(post.id) \(old.title)")
      },
      beforeDelete: { post, _ in
        if post.title == "kept" { throw Refusal() }
        seen.add("delete \(post.id)")
      },
      afterLoad: { post in
        if post.title == "unreadable" { throw Refusal() }
        post.loads += 1
      })
  }

  struct Refusal: Error {}

  final class Seen: @unchecked Sendable {
    private let lock = ThreadLock()
    private var lines: [String] = []

    func add(_ line: String) {
      lock.lock()
      defer { lock.unlock() }
      lines.append(line)
    }

    /// All lines since it was asked last.
    func take() -> [String] {
      lock.lock()
      defer { lock.unlock() }
      defer { lines = [] }
      return lines
    }
  }
}

@Suite("Hooks and validation of records", .serialized)
struct RecordHookTests {
  private func withPosts(_ body: (PersistentStore) throws -> Void) throws {
    _ = Post.seen.take()
    try withStore(StoreModel(records: [Post.self]), StoreOptions(), body)
  }

  @Test func `hooks run before writes and after reads, and may change the record, A21`() throws {
    try withPosts { store in
      try store.save(Post(id: 1, title: "One", slug: "o n e"))
      #expect(try store.fetch(Post.self, key: 1)?.slug == "one")
      #expect(try store.fetch(Post.self, key: 1)?.loads == 1)
      try store.save(Post(id: 1, title: "Two", slug: "one"))
      try store.delete(Post(id: 1, title: "", slug: ""))
      #expect(Post.seen.take() == ["insert 1", "update 1 One", "delete 1"])
      try store.write { transaction in
        try transaction.insert(contentsOf: (1...3).map { Post(id: $0, title: "T", slug: "s\($0)") })
        #expect(try !transaction.delete(Post.self, key: 9))
        try transaction.delete(Post.self, key: 2)
        try transaction.deleteAll(Post.self)
      }
      #expect(
        Post.seen.take() == [
          "insert 1", "insert 2", "insert 3", "delete 2", "delete 1", "delete 3",
        ])
    }
  }

  @Test func `a record that another takes the place of is deleted with its hook, A21 E4`() throws {
    try withPosts { store in
      try store.save(Post(id: 1, title: "One", slug: "s"))
      try store.save(Post(id: 2, title: "Two", slug: "s"), onConflict: .replaceOther)
      #expect(Post.seen.take() == ["insert 1", "insert 2", "delete 1"])
      try store.save(Post(id: 2, title: "kept", slug: "s"))
      #expect(throws: Post.Refusal.self) {
        try store.save(Post(id: 3, title: "Three", slug: "s"), onConflict: .replaceOther)
      }
      #expect(try store.fetch(Post.self).map(\.id) == [2])
    }
  }

  @Test func `no hook runs for what is refused for its key, A21`() throws {
    try withPosts { store in
      try store.save(Post(id: 1, title: "One", slug: "one"))
      _ = Post.seen.take()
      #expect(storeError { try store.insert(Post(id: 1, title: "Two", slug: "two")) } != nil)
      #expect(storeError { try store.update(Post(id: 2, title: "Two", slug: "two")) } != nil)
      #expect(Post.seen.take() == [])
    }
  }

  @Test func `a hook that throws ends its operation and changes nothing, A20 A21`() throws {
    try withPosts { store in
      try store.save(Post(id: 1, title: "One", slug: "one"))
      try store.save(Post(id: 2, title: "kept", slug: "kept2"))
      try store.write { transaction in
        for id in [1, 3] {
          #expect(throws: Post.Refusal.self) {
            try transaction.save(Post(id: id, title: "refused", slug: "x"))
          }
        }
        #expect(throws: Post.Refusal.self) { try transaction.delete(Post.self, key: 2) }
        #expect(throws: Post.Refusal.self) { try transaction.deleteAll(Post.self) }
        try transaction.save(Post(id: 4, title: "Four", slug: "four"))
      }
      #expect(try store.fetch(Post.self).map(\.id) == [1, 2, 4])
      try store.save(Post(id: 5, title: "unreadable", slug: "five"))
      #expect(throws: Post.Refusal.self) { try store.fetch(Post.self) }
      #expect(throws: Post.Refusal.self) { try store.fetch(Post.self, key: 5) }
      #expect(try store.count(Post.self) == 4)
    }
  }

  @Test func `what is not valid is refused by name and changes nothing, A19 A20`() throws {
    try withPosts { store in
      let valid = Post(id: 1, title: "One", slug: "one", words: 3)
      try store.save(valid)
      func refusal(_ change: (inout Post) -> Void) -> (field: String?, reason: String)? {
        var post = valid
        change(&post)
        guard
          case .invalidValue("Post", let field, let reason) = storeError({
            try store.save(post)
          })
        else { return nil }
        return (field, reason)
      }
      #expect(refusal { $0.title = "" }?.field == "title")
      #expect(refusal { $0.title = String(repeating: "x", count: 21) }?.field == "title")
      #expect(refusal { $0.slug = "A" }?.field == "slug")
      #expect(refusal { $0.words = 0 }?.field == "words")
      #expect(refusal { $0.words = 2 }?.reason.contains("odd") == true)
      let whole = try #require(refusal { $0.title = "one" })
      #expect(whole.field == nil)
      #expect(whole.reason.contains("a title is not its slug"))
      #expect(try store.fetch(Post.self, key: 1)?.words == 3)
    }
  }

  @Test func `what the struct fills in is stored, A15`() throws {
    try withPosts { store in
      let posts = [Post(id: 1, title: "A", slug: "a"), Post(id: 2, title: "B", slug: "b")]
      try store.write { transaction in try transaction.save(contentsOf: posts) }
      #expect(posts[0].token != posts[1].token)
      #expect(try store.fetch(Post.self).map(\.token) == posts.map(\.token))
      #expect(try store.fetch(Post.self).map(\.words) == [1, 1])
    }
  }
}
