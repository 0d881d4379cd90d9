import TestSupport
import Testing

struct SparseBytesTests {
  @Test(arguments: 0..<16 as Range<UInt64>)
  func `bytes are what a plain array would hold`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var sparse = SparseBytes()
    var model: [UInt8] = []
    for round in 0..<60 {
      let offset = Int.random(in: 0..<20_000, using: &generator)
      if Int.random(in: 0..<4, using: &generator) == 0 {
        sparse.resize(to: offset)
        model = Array(model.prefix(offset))
        model += [UInt8](repeating: 0, count: offset - model.count)
      } else {
        let count = Int.random(in: 0..<9_000, using: &generator)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ round) }
        sparse.write(bytes, from: offset)
        if count > 0 {
          model += [UInt8](repeating: 0, count: max(0, offset + count - model.count))
          model.replaceSubrange(offset..<offset + count, with: bytes)
        }
      }
      #expect(sparse.size == model.count)
      #expect(sparse.bytes(0..<30_000) == model, "seed \(seed), round \(round)")
      let middle = offset / 2..<offset
      #expect(sparse.bytes(middle) == Array(model[middle.clamped(to: 0..<model.count)]))
    }
  }

  @Test func `a hole takes no room`() {
    var sparse = SparseBytes()
    sparse.write([1], from: 1 << 30)
    sparse.write([1, 2], from: 4095)
    #expect(sparse.size == (1 << 30) + 1)
    #expect(sparse.writtenBlocks.map(\.index) == [0, 1, 1 << 18])
    #expect(sparse.blockCount == 3)
    #expect(sparse.missingBlocks(in: 0..<3 * 4096) == 1)
  }

  @Test func `a copy stays as it was`() {
    var sparse = SparseBytes([1, 2, 3])
    let copy = sparse
    sparse.write([9], from: 0)
    sparse.resize(to: 2)
    #expect(copy.bytes(0..<3) == [1, 2, 3])
    #expect(sparse.bytes(0..<3) == [9, 2])
  }
}
