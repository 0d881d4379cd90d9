import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A state that is opened with what the one before it has open.
@Suite struct SuccessorTests {
  private static let identity = FooterFixtures.identity
  private static let segmentBlocks = 2 * Layout.pageBlocksMax + 1

  /// Pages in as many segments as there are `sizes`, and the states that publish them one by one.
  private final class World {
    let medium = SimulatedFileSystem()
    let appender: PageAppender
    private(set) var footer = Footer(identity: identity)
    private(set) var pages: [PageReference] = []

    init() {
      appender = PageAppender(
        to: medium, of: identity, from: 1, output: .buffered, segmentBlocks: segmentBlocks)
    }

    /// - Returns: the reference to a state with another page, filled with `byte`.
    func publish(_ blocks: Int, _ byte: UInt8) throws(StoreError) -> FooterReference {
      let count = blocks * Layout.blockSize - LargeValue.partHeaderSize
      let value = Bytes(repeating: byte, count: count)
      pages.append(try appender.append(largeValue: value.rawSpan))
      footer.coveredSequence += 1
      footer.extend(by: appender.extents)
      return try appender.publish(footer)
    }

    /// The byte that page `index` is filled with.
    func read(_ index: Int, in file: PageFile) throws(StoreError) -> UInt8 {
      var value: Bytes = []
      try file.pages.appendLargeValue(pages[index], to: &value)
      #expect(value.allSatisfy { $0 == value[0] })
      return value[0]
    }
  }

  @Test(arguments: [ReadMode.mapped, .buffered(cacheSize: 1 << 20)])
  func `each state shows what it published, the older too, and no more`(mode: ReadMode) throws {
    let world = World()
    var files = [
      try PageFile(opening: world.publish(2, 0), in: world.medium, reading: mode)
    ]
    for index in 1..<12 as Range<UInt8> {
      let reference = try world.publish(index % 3 == 0 ? 60 : 2, index)
      let previous = try #require(files.last)
      let next =
        index % 2 == 0
        ? try PageFile(after: previous, reference, world.footer)
        : try PageFile(after: previous, opening: reference)
      #expect(next.footer == world.footer)
      #expect(next.healedCopy == nil)
      files.append(next)
    }
    // Newest first, so that what is verified for one state is beyond the end of another.
    for (state, file) in files.enumerated().reversed() {
      for index in world.pages.indices {
        if index <= state {
          #expect(try world.read(index, in: file) == UInt8(index))
        } else {
          let error = storeError { () throws(StoreError) in _ = try world.read(index, in: file) }
          guard case .corrupt(_, .pageExists, _) = error else {
            Issue.record("page \(index) of state \(state): \(String(describing: error))")
            return
          }
        }
      }
    }
  }

  @Test func `a state with nothing new costs no call, and a page no second look`() throws {
    let world = World()
    for index in 0..<9 as Range<UInt8> { _ = try world.publish(60, index) }
    let reference = try world.publish(1, 9)
    let file = try PageFile(opening: reference, in: world.medium, reading: .mapped)
    #expect(try world.read(3, in: file) == 3)
    let calls = world.medium.callCount
    let next = try PageFile(after: file, reference, world.footer)
    #expect(try world.read(3, in: next) == 3)
    #expect(world.medium.callCount == calls)
    #expect(next.pages.segments.entries.count > 4)
  }

  @Test
  func `what was added costs a call for each segment that grew, and an opening for a new one`()
    throws
  {
    let world = World()
    let file = try PageFile(opening: world.publish(60, 0), in: world.medium, reading: .mapped)
    var reference = try world.publish(60, 1)
    var sites = try sites(in: world.medium) { () throws(StoreError) in
      _ = try PageFile(after: file, reference, world.footer)
    }
    #expect(sites == [.segmentOpen])
    reference = try world.publish(60, 2)
    sites = try self.sites(in: world.medium) { () throws(StoreError) in
      _ = try PageFile(after: file, reference, world.footer)
    }
    #expect(sites == [.segmentOpen, .segmentOpen, .segmentOpen, .segmentHeaderRead, .segmentMap])
  }

  private func sites(
    in medium: SimulatedFileSystem, of body: () throws(StoreError) -> Void
  ) throws -> [Site] {
    let start = medium.callCount
    try body()
    return medium.calls[start...].map(\.site)
  }

  @Test func `a segment closes when the last state that names it goes`() throws {
    let world = World()
    _ = try world.publish(100, 0)
    let reference = try world.publish(100, 1)
    let appending = world.medium.openFileCount
    var file: PageFile? = try PageFile(opening: reference, in: world.medium, reading: .mapped)
    #expect(world.medium.openFileCount == appending + 2)
    var footer = world.footer
    footer.segments.removeFirst()
    var next: PageFile? = try file.map { file throws(StoreError) in
      try PageFile(after: file, reference, footer)
    }
    #expect(world.medium.openFileCount == appending + 2)
    file = nil
    #expect(world.medium.openFileCount == appending + 1)
    #expect(next?.pages.segments.entries.map(\.segment.number) == [2])
    next = nil
    #expect(world.medium.openFileCount == appending)
  }

  @Test func `a segment that did not grow as the footer says is damage`() throws {
    let world = World()
    let file = try PageFile(opening: world.publish(2, 0), in: world.medium, reading: .mapped)
    let reference = try world.publish(2, 1)
    let bytes = try #require(world.medium.bytes(of: .pages(1)))
    world.medium.replaceBytes(of: .pages(1), with: Bytes(bytes.prefix(6 * Layout.blockSize)))
    for isRead in [true, false] {
      let error = storeError { () throws(StoreError) in
        _ =
          isRead
          ? try PageFile(after: file, opening: reference)
          : try PageFile(after: file, reference, world.footer)
      }
      guard case .corrupt = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    #expect(try world.read(0, in: file) == 0)
  }

  @Test func `a first copy that is damaged is healed by the second`() throws {
    let world = World()
    let file = try PageFile(opening: world.publish(2, 0), in: world.medium, reading: .mapped)
    let reference = try world.publish(2, 1)
    world.medium.flipBit(
      Int(reference.position.block) * Layout.blockSize * 8 + 900, of: .pages(1))
    let next = try PageFile(after: file, opening: reference)
    #expect(next.healedCopy != nil)
    #expect(next.footer == world.footer)
  }

  @Test func `threads read older states while the next one is made`() async throws {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let medium = try PosixFileSystem(at: directory.path)
    var world = TreeWorld(on: medium, sizes: NodeSizes(leaf: 512, branch: 512))
    world.goesOn = true
    var states: [(tree: Tree, model: [Bytes: Bytes])] = []
    for round in 0..<12 as Range<UInt64> {
      var changes: [Bytes: Bytes?] = [:]
      for index in 0..<60 as Range<UInt64> {
        changes[key((round &* 60 &+ index) &* 0x9e37_79b9_7f4a_7c15, length: 8)] = key(
          index, length: 9)
      }
      let readers = states.suffix(2).flatMap { [$0, $0] }.map { state in
        Task { try Self.countWrong(state.tree, state.model) }
      }
      try world.merge(changes)
      states.append((try world.tree(), world.model))
      for reader in readers { #expect(try await reader.value == 0) }
    }
    for state in states { #expect(try Self.countWrong(state.tree, state.model) == 0) }
  }

  private static func countWrong(
    _ tree: Tree, _ model: [Bytes: Bytes]
  ) throws(StoreError) -> Int {
    var wrong = tree.count - model.count
    var value: Bytes = []
    for (key, expected) in model {
      let isFound = try tree.copyValue(for: key.rawSpan, to: &value)
      if !isFound || value != expected { wrong += 1 }
    }
    return wrong
  }
}
