import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct ConcurrentReadingTests {
  private static let rounds = 20

  /// All pages are new to each round's reader, so that first touches race.
  @Test(arguments: [ReadMode.mapped, .buffered(cacheSize: 1 << 20), .buffered(cacheSize: 16384)])
  func `threads that read at once all read right`(mode: ReadMode) async throws {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    var world = TreeWorld(
      on: try PosixFileSystem(at: directory.path), sizes: NodeSizes(leaf: 512, branch: 512),
      reading: mode)
    var changes: [Bytes: Bytes?] = [:]
    for index in 0..<400 as Range<UInt64> {
      changes[key(index &* 0x9e37_79b9_7f4a_7c15, length: 8)] = key(index, length: 9)
    }
    try world.merge(changes)
    let reference = try #require(world.file?.reference)
    let entries = world.model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    for _ in 0..<Self.rounds {
      let file = try PageFile(opening: reference, in: world.medium, reading: mode)
      let tree = Tree(pages: file.pages, root: file.footer.trees[0].root)
      let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
        for reader in 0..<4 {
          group.addTask {
            var wrong = 0
            var value: Bytes = []
            for step in entries.indices {
              let entry = entries[(step * (2 * reader + 1)) % entries.count]
              let isFound = try tree.copyValue(for: entry.key.rawSpan, to: &value)
              if !isFound || value != entry.value { wrong += 1 }
            }
            return wrong
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(wrong == 0)
      if case .buffered(let size) = mode { #expect((file.pages.cache?.size ?? .max) <= size) }
    }
  }
}
