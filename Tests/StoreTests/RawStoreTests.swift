import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("A raw store, with its threads")
struct RawStoreTests {
  @Test("keeps what threads and tasks commit at once")
  func concurrentCommits() async throws {
    let directory = try TemporaryDirectory()
    do {
      let store = try RawStore(at: directory.path)
      let tree = try store.tree("t")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<16 as Range<UInt8> {
          group.addTask {
            for index in 0..<50 as Range<UInt8> {
              try await store.write { transaction in
                try transaction.put(
                  [task, index].rawSpan, Bytes(repeating: index, count: 100).rawSpan, in: tree)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try store.snapshot()[tree].count == 800)
      try store.close()
    }
    let store = try RawStore(at: directory.path)
    let tree = try store.tree("t")
    #expect(store.report.replayedCommits == 0)
    #expect(try store.snapshot()[tree].count == 800)
    #expect(try store.snapshot()[tree].copyValue(for: [3, 4].rawSpan)?.count == 100)
    try store.close()
  }
}
