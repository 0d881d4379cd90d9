import Cambium
import TestSupport
import Testing

struct CrashPolicyTests {
  @Test(
    arguments: [
      (.none, "aaaa"), (.all, "bcaa.d"),
      (.prefix(0), "aaaa"), (.prefix(1), "baaa"), (.prefix(2), "bcaa"), (.prefix(3), "bcaa.d"),
      (.prefix(9), "bcaa.d"),
      (.onlyLast, "aaaa.d"),
      (.allBut(0), "acaa.d"), (.allBut(1), "baaa.d"), (.allBut(2), "bcaa"), (.allBut(3), "bcaa.d"),
      (.cut(change: 0, bytes: 0), "aaaa"), (.cut(change: 0, bytes: 1), "baaa"),
      (.cut(change: 2, bytes: 0), "bcaa"), (.cut(change: 2, bytes: 1), "bcaa.d"),
      (.grownWithZeros, "aaaa.."),
      (.truncateLost, "bcaa.d"), (.renameLost, "bcaa.d"), (.unlinkResurrected, "bcaa.d"),
      (.renameWithoutData, "aaaa"),
    ] as [(CrashPolicy, String)])
  func `a power cut leaves of three writes what its policy says`(
    policy: CrashPolicy, bytes: String
  ) throws {
    let crashed = try CrashWorlds.bytes().crashed(policy)
    #expect(crashed.summary == "pages-1:\(bytes)")
    #expect(crashed.pendingCount == 0)
  }

  @Test(
    arguments: [
      (.none, "log-1:log pages-1:old"),
      (.all, "log-1:n"),
      (.prefix(1), "log-1:log pages-1:old pages-2.new:"),
      (.prefix(2), "log-1:log pages-1:old pages-2.new:new"),
      (.prefix(3), "log-1:log pages-1:old pages-2:new"),
      (.prefix(4), "log-1:log pages-2:new"),
      (.prefix(5), "log-1:log pages-2:n"),
      (.prefix(6), "pages-2:n"),
      (.onlyLast, "log-1: pages-1:old"),
      (.allBut(0), "log-1:n"),
      (.allBut(1), "log-1:."),
      (.allBut(2), "log-1:n pages-2.new:n"),
      (.allBut(3), "log-1:n pages-1:old"),
      (.allBut(4), "log-1:new"),
      (.allBut(5), "log-1:n"),
      (.allBut(6), "pages-2:n"),
      (.truncateLost, "log-1:new"),
      (.renameLost, "pages-2.new:n"),
      (.renameWithoutData, "log-1:"),
      (.unlinkResurrected, "log-1:n pages-1:old"),
      (.grownWithZeros, "log-1:."),
    ] as [(CrashPolicy, String)])
  func `a power cut leaves of names, sizes and bytes what its policy says`(
    policy: CrashPolicy, files: String
  ) throws {
    let fileSystem = try CrashWorlds.names()
    #expect(fileSystem.pendingCount == 7)
    #expect(fileSystem.crashed(policy).summary == files)
  }

  @Test func `a random subset is any of all subsets`() throws {
    let fileSystem = try CrashWorlds.bytes()
    let images = Set((0..<64).map { fileSystem.crashed(.subset(seed: $0)).summary })
    #expect(
      images == [
        "pages-1:aaaa", "pages-1:baaa", "pages-1:acaa", "pages-1:bcaa", "pages-1:aaaa.d",
        "pages-1:baaa.d", "pages-1:acaa.d", "pages-1:bcaa.d",
      ])
  }

  @Test func `a write torn at a byte leaves some prefix of it, and all before`() throws {
    let fileSystem = try CrashWorlds.bytes()
    let three = Set((0..<64).map { fileSystem.crashed(.torn(at: .byte, seed: $0)).summary })
    #expect(three == ["pages-1:aaaa", "pages-1:baaa", "pages-1:bcaa"])
    let one = try CrashWorlds.oneWrite(size: 4, over: 1..<6)
    let images = Set((0..<64).map { one.crashed(.torn(at: .byte, seed: $0)).summary })
    #expect(images == ["log-1:xxxx", "log-1:xyxx", "log-1:xyyx", "log-1:xyyy", "log-1:xyyyy"])
  }

  @Test(arguments: [(TearUnit.sector, 512), (.block, 4096)])
  func `a write torn at a unit leaves each unit whole or as it was`(
    unit: TearUnit, size: Int
  ) throws {
    // Three units, of which the first and the last are written in part.
    let range = size - 10..<2 * size + 10
    let fileSystem = try CrashWorlds.oneWrite(size: 3 * size, over: range)
    var patterns: Set<[Bool]> = []
    for seed in 0..<64 as Range<UInt64> {
      let crashed = fileSystem.crashed(.torn(at: unit, seed: seed))
      let bytes = try #require(crashed.bytes(of: .log(1)))
      var pattern: [Bool] = []
      for index in 0..<3 {
        let part = range.clamped(to: index * size..<(index + 1) * size)
        let written = bytes[part].contains(CrashWorlds.y)
        pattern.append(written)
        #expect(bytes[part].allSatisfy { $0 == (written ? CrashWorlds.y : CrashWorlds.x) })
      }
      #expect(bytes.count == 3 * size)
      #expect(bytes[..<range.lowerBound].allSatisfy { $0 == CrashWorlds.x })
      #expect(bytes[range.upperBound...].allSatisfy { $0 == CrashWorlds.x })
      patterns.insert(pattern)
    }
    #expect(patterns.count == 8)
  }

  @Test func `a file that grew may hold old blocks of the same store`() throws {
    let fileSystem = try CrashWorlds.oneWrite(size: 4096, over: 4096..<3 * 4096)
    let bytes = try #require(
      fileSystem.crashed(.grownWithGarbage(seed: 1)).bytes(of: .log(1)))
    // The one block the medium ever held, where the new ones were to be.
    #expect(bytes == [UInt8](repeating: CrashWorlds.x, count: 3 * 4096))
  }

  @Test func `a block that was being rewritten may be neither the old one nor the new one`() throws
  {
    let fileSystem = try CrashWorlds.oneWrite(size: 3 * 4096, over: 4000..<4100)
    let spoiled = try #require(fileSystem.crashed(.spoiled).bytes(of: .log(1)))
    #expect(spoiled.count == 3 * 4096)
    #expect(Set(spoiled[..<4000]).count > 200 && Set(spoiled[4100..<8192]).count > 200)
    #expect(spoiled[8192...].allSatisfy { $0 == CrashWorlds.x })
    let images = (0..<64).map { seed in
      fileSystem.crashed(.spoiledInPart(seed: seed)).bytes(of: .log(1)) ?? []
    }
    #expect(Set(images).count == 9)
  }

  @Test func `a sync forces the blocks that its open file wrote to, and no others`()
    throws
  {
    let fileSystem = SimulatedFileSystem()
    let one = try fileSystem.create(.log(1), [UInt8](repeating: 1, count: 8192))
    try one.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    let other = try fileSystem.open(.log(1), .readWrite, at: .test)
    try one.write([2], from: 0)
    try other.write([3], from: 1)
    try other.write([4], from: 4096)
    try one.sync(at: .test)
    let image = try #require(fileSystem.crashed(.none).bytes(of: .log(1)))
    #expect(image[0] == 2 && image[1] == 3 && image[4096] == 1)
    try other.sync(at: .test)
    #expect(fileSystem.crashed(.none).bytes(of: .log(1))?[4096] == 4)
  }

  @Test func `a file that grew on a new medium may hold noise`() throws {
    let fileSystem = SimulatedFileSystem()
    _ = try fileSystem.create(.log(1), [UInt8](repeating: 0, count: 8192))
    let images = (0..<4).map { fileSystem.crashed(.grownWithGarbage(seed: $0)).bytes(of: .log(1)) }
    #expect(Set(images).count == 4)
    #expect(images.allSatisfy { $0?.count == 8192 && $0?.contains { $0 != 0 } == true })
  }

  @Test(arguments: [CrashWorlds.bytes, CrashWorlds.names])
  func `every policy gives the same image each time, and leaves the world as it is`(
    world: @Sendable () throws -> SimulatedFileSystem
  ) throws {
    let fileSystem = try world()
    let before = fileSystem.summary
    let count = fileSystem.pendingCount
    for policy in CrashPolicy.every(pending: count) + CrashPolicy.sample(seed: 3) {
      let first = fileSystem.crashed(policy)
      #expect(try first.summary == world().crashed(policy).summary, "\(policy)")
      for name in first.names { first.replaceBytes(of: name, with: [9]) }
      #expect(fileSystem.summary == before)
      #expect(fileSystem.pendingCount == count)
    }
  }

  @Test func `a sample holds every kind of crash`() {
    func kind(_ policy: CrashPolicy) -> Substring { "\(policy)".prefix { $0 != "(" } }
    let kinds = Set(CrashPolicy.sample(seed: 1).map(kind))
    #expect(
      kinds == [
        "none", "all", "prefix", "onlyLast", "allBut", "subset", "torn", "grownWithZeros",
        "grownWithGarbage", "spoiled", "spoiledInPart", "truncateLost", "renameLost",
        "renameWithoutData", "unlinkResurrected",
      ])
    #expect(CrashPolicy.sample(seed: 1) != CrashPolicy.sample(seed: 2))
    #expect(CrashPolicy.every(pending: 5).count > 30)
  }
}
