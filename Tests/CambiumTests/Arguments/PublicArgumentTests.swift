import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// No argument ends the process: the sources are searched for public declarations, and each that takes a number, a
/// text, a time or bytes is called with the extremes of their types. What traps ends these tests, under its name.
@Suite struct PublicArgumentTests {
  private static let calls: [String: @Sendable (Extremes) throws -> Void] =
    ExtremeCalls.reading.merging(ExtremeCalls.writing) { one, _ in one }
    .merging(ExtremeCalls.stores) { one, _ in one }
    .merging(ExtremeCalls.declarations) { one, _ in one }
    .merging(ExtremeCalls.values) { one, _ in one }
    .merging(ExtremeCalls.operators) { one, _ in one }

  @Test func `every public function that takes values is called with extremes`() throws {
    let declared = try Set(PublicDeclaration.all().filter(\.takesValues).map(\.name))
    #expect(declared.count > 100, "the sources were not found, or not understood")
    #expect(declared.subtracting(Self.calls.keys).sorted() == [])
    #expect(Set(Self.calls.keys).subtracting(declared).sorted() == [], "no longer declared")
  }

  @Test(arguments: calls.keys.sorted())
  func `extremes give an answer or an error`(of name: String) throws {
    let extremes = try Extremes()
    let call = try #require(Self.calls[name])
    Extremes.attempt { try call(extremes) }
    // The store is as usable as before.
    #expect(try extremes.store.fetch(Photo.self, key: 2)?.id == 2)
    try extremes.store.save(Photo(3, image: 500))
    try extremes.store.close()
    #expect(try PersistentStore.check(at: extremes.store.path, .deep).faults == [])
  }
}
