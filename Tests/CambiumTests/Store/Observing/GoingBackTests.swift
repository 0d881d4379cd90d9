import Testing

@testable import Cambium

/// A store that is only read shows an older state again where its writer was gone, and came back.
@Suite(.timeLimit(.minutes(1))) struct GoingBackTests {
  private final class Shown: ObservedStore, @unchecked Sendable {
    var state: State
    let begunSequence: UInt64 = 0
    let path = "shown"

    init(_ state: State) { self.state = state }

    func newestState() throws(StoreError) -> any ObservedState { state }
  }

  private final class State: ObservedState {
    let sequence: UInt64
    private let snapshot: StoreSnapshot
    var trees: TreeAccess { snapshot.trees }

    init(_ sequence: UInt64, _ snapshot: StoreSnapshot) {
      self.sequence = sequence
      self.snapshot = snapshot
    }
  }

  private static func keys(_ step: ObservedStep?) throws -> [String] {
    var changes: [String] = []
    try step?.forEachChange { change in
      changes.append(
        (change.new == nil ? "-" : "+") + String(decoding: change.key, as: UTF8.self))
    }
    return changes
  }

  @Test func `who looks between what is said and what is shown is told of it all the same, H6`()
    async throws
  {
    let store = try PersistentStore(inMemory: .samples)
    try store.save(Note(key: "a"))
    let older = try store.snapshot()
    try store.save(Note(key: "b"))
    let tree = try older.types.type(Note.self).trees.rows
    let shown = Shown(State(10, try store.snapshot()))
    let hub = ObservationHub()
    let place = try hub.observe(tree, of: shown)
    hub.announce(nil, 0, 8, by: nil)
    #expect(try Self.keys(await place.next()) == [])
    shown.state = State(8, older)
    #expect(try Self.keys(await place.next()) == ["-b"])
    // Said again when it is shown, it is not lost where the state has gone on meanwhile.
    shown.state = State(10, try store.snapshot())
    hub.announce(nil, 9, 10, by: nil)
    #expect(try Self.keys(await place.next()) == ["+b"])
    try store.close()
  }
}
