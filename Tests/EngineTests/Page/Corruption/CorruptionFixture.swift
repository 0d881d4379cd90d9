import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A page file of some 90 KiB with every kind of page, in two segments made by two merges, so that
/// there is garbage and an older footer.
///
///     segment 1   header · parts and list of a value · values · leaves · branches · footer ·
///                 its copy
///     segment 2   header · the leaves and branches that the second merge made anew · footer · its
///                 copy
///
/// The tree `deep` has branches on two levels, keys and values of every length, and values in pages of
/// their own; `flat` is a leaf of fixed widths.
struct CorruptionFixture {
  static let sizes = NodeSizes(leaf: 144, branch: 186)

  let medium: InMemoryFileSystem
  private(set) var map = PageMap()
  /// The state of the first merge, which the second one keeps.
  let old: PublishedState
  let new: PublishedState

  /// - Parameter salt: Told apart by it are fixtures that have the same pages with other values.
  init(identity: StoreIdentity = .ofFixtures, salt: UInt8 = 0) throws {
    medium = InMemoryFileSystem()
    var builder = FixtureBuilder(medium: medium, identity: identity, salt: salt)
    let first = try builder.publishFirst()
    let second = try builder.publishSecond(over: first)
    old = try PublishedState(first, in: medium, of: builder.oldModel, to: &map)
    var new = try PublishedState(second, in: medium, of: builder.newModel, to: &map)
    new.pendingTrees = [old.trees[0]]
    self.new = new
    for (segment, blocks) in blockCounts {
      for block in 0..<UInt32(blocks) {
        let position = PagePosition(segment: segment, block: block)
        if map.owner(of: position) == nil { _ = map.add(position, blocks: 1) }
      }
    }
  }

  static let segments: [UInt32] = [1, 2]

  /// The blocks in each file.
  var blockCounts: [(segment: UInt32, blocks: Int)] {
    Self.segments.map { segment in
      let bytes = (try? medium.contents(of: .pages(segment)))?.count ?? 0
      return (segment, bytes / Layout.blockSize)
    }
  }
}

extension StoreIdentity {
  static let ofFixtures = StoreIdentity(low: 0xfeed_f00d, high: 0x1234)
  static let ofStrangers = StoreIdentity(low: 0xfeed_f00d, high: 0x1235)
}

/// Makes the two states, and says what each of them holds.
private struct FixtureBuilder {
  let medium: InMemoryFileSystem
  let identity: StoreIdentity
  let salt: UInt8
  private(set) var oldModel = FixtureModel()
  private(set) var newModel = FixtureModel()

  init(medium: InMemoryFileSystem, identity: StoreIdentity, salt: UInt8) {
    self.medium = medium
    self.identity = identity
    self.salt = salt
  }

  mutating func publishFirst() throws -> FooterReference {
    let appender = PageAppender(
      to: medium, of: identity, from: 1, output: .buffered, segmentBlocks: 256)
    let deep = try buildDeep(appender)
    let flat = try buildFlat(appender)
    var footer = Footer(identity: identity)
    footer.coveredSequence = 10
    footer.trees = [NamedTree(name: "deep", root: deep), NamedTree(name: "flat", root: flat)]
    return try publish(&footer, from: appender)
  }

  mutating func publishSecond(over reference: FooterReference) throws -> FooterReference {
    let base = try PageFile(opening: reference, in: medium, reading: .mapped)
    let appender = PageAppender(
      to: medium, of: identity, from: 2, output: .buffered, segmentBlocks: 256)
    newModel = oldModel
    let changes: [Bytes: Bytes?] = [
      deepKey(1): text(7, seed: 100), deepKey(2): nil, deepKey(3) + [1]: text(9, seed: 101),
    ]
    for (key, value) in changes { newModel.deep[key] = value }
    var footer = base.footer
    footer.coveredSequence = 20
    footer.trees[0].root = try TreeMerge.run(
      ListInput(changes), into: footer.trees[0].root, of: base.pages,
      sizes: CorruptionFixture.sizes, appendingTo: appender)
    footer.previous = reference
    footer.keptStates = [KeptState(version: 1, label: "before", footer: reference)]
    footer.pendingWork = [
      PendingWork(kind: 7, cursor: [1, 2, 3], trees: [base.footer.trees[0]])
    ]
    return try publish(&footer, from: appender)
  }

  private func publish(
    _ footer: inout Footer, from appender: PageAppender
  ) throws -> FooterReference {
    footer.segments += appender.extents.map {
      SegmentExtent(kind: .pages, number: $0.number, end: UInt64($0.endBlock), liveBytes: 0)
    }
    return try appender.publish(footer)
  }

  private mutating func buildDeep(
    _ appender: PageAppender
  ) throws -> TreeRoot? {
    var builder = TreeBuilder(
      appendingTo: appender, base: nil, sizes: CorruptionFixture.sizes)
    for index in 0..<16 {
      let key = deepKey(index)
      if index == 5 {
        let parts = [text(30, seed: 1), text(50, seed: 2)]
        oldModel.deep[key] = parts[0] + parts[1]
        let list = try appender.append(valueList: parts)
        try builder.append(key.rawSpan, externalValue: list, schemaVersion: 1)
      } else {
        let value = text(index == 11 ? 5000 : index == 6 ? 60 : index % 7 * 3, seed: UInt8(index))
        oldModel.deep[key] = value
        try builder.append(key.rawSpan, value.rawSpan, schemaVersion: 1)
      }
    }
    return try builder.finish()
  }

  private mutating func buildFlat(
    _ appender: PageAppender
  ) throws -> TreeRoot? {
    var builder = TreeBuilder(
      appendingTo: appender, base: nil, sizes: CorruptionFixture.sizes)
    for index in 0..<4 {
      let key: Bytes = [0, 0, 0, 0, 0, 0, 7, UInt8(index)]
      oldModel.flat[key] = text(4, seed: UInt8(index))
      try builder.append(key.rawSpan, text(4, seed: UInt8(index)).rawSpan, schemaVersion: 1)
    }
    return try builder.finish()
  }

  private func deepKey(_ index: Int) -> Bytes {
    [UInt8(index * 11)] + Bytes(repeating: UInt8(ascii: "k"), count: index % 5 * 3)
  }

  private func text(_ count: Int, seed: UInt8) -> Bytes {
    var random = SplitMix64(seed: UInt64(seed) << 8 | UInt64(salt))
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }
}

/// What the fixture's trees hold.
struct FixtureModel {
  var deep: [Bytes: Bytes] = [:]
  var flat: [Bytes: Bytes] = [:]
}

extension PageAppender {
  /// Appends a value in these parts, however small they are; the library makes them 256 KiB.
  fileprivate func append(valueList parts: [Bytes]) throws -> PageReference {
    var references: Bytes = []
    var liveBytes: UInt64 = 0
    for part in parts {
      let reference = try append(largeValue: part.rawSpan)
      reference.encode(to: &references)
      liveBytes += reference.liveBytes
    }
    let length = parts.reduce(0) { $0 + $1.count }
    var list = try append(.valueList, blocks: 1) { page in
      page.store(UInt64(length), at: 24)
      page.store(UInt32(parts.count), at: 32)
      page.store(UInt32(0), at: 36)
      page.copy(references.rawSpan, to: LargeValue.listHeaderSize)
      return LargeValue.listHeaderSize + references.count
    }
    list.liveBytes += liveBytes
    return list
  }
}
