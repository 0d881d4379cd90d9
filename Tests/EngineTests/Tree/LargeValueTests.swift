import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct LargeValueTests {
  /// The longest value that stays in its leaf beside a key of 8 bytes.
  private static let inlineMax = NodeSizes.standard.inlineWeightMax - 13

  /// Lengths around every border: what a leaf holds, blocks, a page, parts.
  private static let lengths =
    [0, 1, inlineMax, inlineMax + 1, 4096 - 16, 4096 - 15, 8192]
    + [-1, 0, 1].map { LargeValue.partLengthMax + $0 }
    + [-1, 0, 1].map { 2 * LargeValue.partLengthMax + $0 }
    + [Layout.pageBlocksMax * Layout.blockSize]

  private static func value(_ length: Int, salt: Int = 0) -> Bytes {
    (0..<length).map { UInt8(truncatingIfNeeded: ($0 &+ salt) &* 31 ^ $0 >> 8) }
  }

  @Test(arguments: lengths, TreeReadingTests.modes)
  func `a value of any length is kept, replaced and removed`(length: Int, mode: ReadMode) throws {
    var world = TreeWorld(on: InMemoryFileSystem(), reading: mode)
    let keys = [1, 2, 3].map { key(UInt64($0), length: 8) }
    try world.merge([keys[0]: [1], keys[1]: Self.value(length), keys[2]: [3]])
    try world.verify()
    let sought = keys[1]
    let entry = try world.tree().entry(for: sought.rawSpan)
    #expect(entry?.isExternal == (length > Self.inlineMax))
    // Beside a change, the value's pages stay where they are.
    let liveBytes = try world.tree().liveBytes
    try world.merge([keys[0]: [9]])
    #expect(try world.tree().liveBytes == liveBytes)
    try world.verify()
    try world.merge([keys[1]: Self.value(length, salt: 5)])
    try world.verify()
    try world.merge([:], adoption: .nothing)
    try world.verify()
    try world.merge([keys[1]: nil])
    try world.verify()
    #expect(try world.tree().liveBytes == Layout.blockSize)
  }

  @Test func `a value of 16 MiB is kept and a byte more refused`() throws {
    let bound = StoreError.Limit.valueLength.bound
    var world = TreeWorld(on: InMemoryFileSystem())
    let value = Bytes(repeating: 7, count: bound)
    try world.merge([[1]: value, [2]: [2]])
    var found: Bytes = []
    let key: Bytes = [1]
    let isFound = try world.tree().copyValue(for: key.rawSpan, to: &found)
    #expect(isFound && found == value)
    #expect(TreeCheck.run(try world.tree()).faults.isEmpty)
    #expect(throws: StoreError.limitExceeded(.valueLength, found: bound + 1)) {
      try world.merge([[3]: value + [1]])
    }
  }

  @Test func `values that lie about their length are refused`() throws {
    for change in 0..<6 {
      let pages = CraftedPages()
      let parts = try (0..<2).map { _ in
        try pages.appender.append(largeValue: Self.value(5_000).rawSpan)
      }
      var list = Bytes(repeating: 0, count: 4096)
      let length: UInt64 = [10_000, 9_999, .max, 1 << 40, 10_000, 10_000][change]
      let count: UInt32 = [2, 2, 2, 2, 1, .max][change]
      for index in 0..<8 { list[24 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
      for index in 0..<4 { list[32 + index] = UInt8(truncatingIfNeeded: count >> (8 * index)) }
      var encoded: Bytes = []
      for part in parts { part.encode(to: &encoded) }
      list.replaceSubrange(40..<104, with: encoded)
      var reference = try pages.append(list, kind: .valueList)
      reference.liveBytes += 2 * parts[0].liveBytes
      var value: Bytes = []
      reference.encode(to: &value)
      let leaf = try pages.append([.init(key: [1], value: value, isExternal: true)])
      let tree = try pages.tree(leaf, level: 0)
      let isRight = change == 0
      let faults = TreeCheck.run(tree).faults
      #expect(tree.exercise([[1]]).contains { $0.invariant == .valueLength } == !isRight)
      #expect(faults.isEmpty == isRight)
      #expect((tree.exerciseMerge([[2]], adoption: .nothing) == nil) == isRight)
    }
  }
}
