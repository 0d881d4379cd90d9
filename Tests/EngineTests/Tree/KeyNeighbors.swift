@testable import Cambium
@testable import InternalTestSupport

func < (one: [UInt8], other: [UInt8]) -> Bool { one.lexicographicallyPrecedes(other) }

/// Strings that stand close to `key`: a bit more, a bit less, a byte shorter or longer.
func neighbors(of key: Bytes) -> [Bytes] {
  var found = [key + [0], key + [255], key + [UInt8](repeating: 0, count: 8)]
  guard let last = key.last else { return found }
  found.append(Bytes(key.dropLast()))
  found.append(key.dropLast() + [last &+ 1])
  found.append(key.dropLast() + [last &- 1])
  found.append(key.dropLast() + [last ^ 0x80])
  found.append(Bytes(key.prefix(key.count / 2)))
  found.append([key[0] ^ 1] + key.dropFirst())
  return found
}

/// Every string over `alphabet` of up to `length` bytes, in order.
func strings(over alphabet: [UInt8], upTo length: Int) -> [Bytes] {
  var all: [Bytes] = [[]]
  var longest: [Bytes] = [[]]
  for _ in 0..<length {
    longest = longest.flatMap { start in alphabet.map { start + [$0] } }
    all += longest
  }
  return all.sorted(by: <)
}

extension [[UInt8]] {
  /// The first index whose key is not below `key`, among keys that ascend.
  func lowerBound(of key: Bytes) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
