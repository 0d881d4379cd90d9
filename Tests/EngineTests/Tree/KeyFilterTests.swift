import TestSupport
import Testing

@testable import Cambium

@Suite("A filter of keys")
struct KeyFilterTests {
  private func hash(_ number: Int) -> UInt64 {
    var key: [UInt8] = []
    key.append(integer: UInt64(number).byteSwapped)
    return KeyFilter.hash(key.rawSpan, seed: 7)
  }

  @Test(
    "knows every key it was given, also once it is fitted to them",
    arguments: [0, 1, 255, 256, 20_000])
  func knowsItsKeys(count: Int) {
    let filter = KeyFilter(wordCount: 1 << 14)
    for number in 0..<count { filter.insert(hash(number)) }
    let fitted = filter.fitted(to: count)
    #expect((0..<count).allSatisfy { filter.mayContain(hash($0)) })
    #expect((0..<count).allSatisfy { fitted.mayContain(hash($0)) })
  }

  @Test("spares nearly all searches for others, also once it is fitted", arguments: [256, 20_000])
  func sparesSearches(count: Int) {
    let filter = KeyFilter(wordCount: 1 << 14)
    for number in 0..<count { filter.insert(hash(number)) }
    let fitted = filter.fitted(to: count)
    let others = count..<count + 10_000
    #expect(others.count { fitted.mayContain(hash($0)) } < others.count / 20)
  }

  @Test("with far too many keys still knows them all")
  func isNeverWrong() {
    let filter = KeyFilter(wordCount: 1)
    for number in 0..<10_000 { filter.insert(hash(number)) }
    let fitted = filter.fitted(to: 10_000)
    #expect((0..<10_000).allSatisfy { fitted.mayContain(hash($0)) })
  }
}
