import TestSupport
import Testing

@testable import Cambium

@Suite struct PageCacheTests {
  @Test func `it never holds more than its capacity`() {
    var random = SplitMix64(seed: 11)
    for capacity in [0, 1, 4096, 5000, 3 * 4096, 64 * 4096, 100 * 4096] {
      let cache = PageCache(capacity: capacity)
      for _ in 0..<500 {
        let count = Int.random(in: 1...64, using: &random) * Layout.blockSize
        let position = PagePosition(segment: 1, block: UInt32.random(in: 0..<200, using: &random))
        let isKnown = cache[position] != nil
        cache.insert(PageBuffer(count: count), at: position)
        #expect(cache.size <= capacity)
        if count <= capacity { #expect(cache[position] != nil) }
        if !isKnown && count > capacity { #expect(cache[position] == nil) }
      }
    }
  }

  @Test func `what it holds is what was put there`() {
    let cache = PageCache(capacity: 8 * Layout.blockSize)
    var buffers: [PagePosition: PageBuffer] = [:]
    var random = SplitMix64(seed: 12)
    for _ in 0..<1_000 {
      let position = PagePosition(segment: 1, block: UInt32.random(in: 0..<20, using: &random))
      if let found = cache[position] {
        #expect(found === buffers[position])
      } else {
        let buffer = PageBuffer(count: Int.random(in: 1...3, using: &random) * Layout.blockSize)
        buffers[position] = buffer
        cache.insert(buffer, at: position)
      }
    }
  }

  @Test func `a page asked for between any two that come stays`() throws {
    let cache = PageCache(capacity: 4 * Layout.blockSize)
    let favourite = PagePosition(segment: 9, block: 9)
    cache.insert(PageBuffer(count: Layout.blockSize), at: favourite)
    for block in 0..<200 as Range<UInt32> {
      try #require(cache[favourite] != nil, "lost before page \(block)")
      cache.insert(
        PageBuffer(count: Layout.blockSize), at: PagePosition(segment: 1, block: block))
    }
  }

  @Test func `a page put there twice is the first`() {
    let cache = PageCache(capacity: 4 * Layout.blockSize)
    let position = PagePosition(segment: 1, block: 1)
    let first = PageBuffer(count: Layout.blockSize)
    cache.insert(first, at: position)
    cache.insert(PageBuffer(count: Layout.blockSize), at: position)
    #expect(cache[position] === first)
    #expect(cache.size == Layout.blockSize)
  }
}

@Suite struct BlockSetTests {
  @Test(arguments: [0, 1, 63, 64, 65, 1000])
  func `it holds what was put in, and nothing else`(count: Int) {
    let set = BlockSet(blocks: count)
    var model: Set<UInt32> = []
    var random = SplitMix64(seed: UInt64(count))
    for _ in 0..<count / 2 {
      let block = UInt32.random(in: 0..<UInt32(count), using: &random)
      set.insert(block)
      model.insert(block)
    }
    for block in 0..<UInt32(count) { #expect(set.contains(block) == model.contains(block)) }
  }

  @Test func `a block beyond its end is in no set`() {
    let set = BlockSet(blocks: 64)
    for block in [64, 1 << 20, UInt32.max] {
      set.insert(block)
      #expect(!set.contains(block))
    }
  }
}
