/// The positions of the keys in ascending order of their bytes.
///
/// Sorts the eight bytes after the prefix that all keys share and looks at a whole key only where
/// these are equal: a comparison then rarely leaves the cache.
/// Cost: O(n log n), and 20 bytes a key.
func positionsInKeyOrder(_ keys: ByteList) -> [UInt32] {
  let headStart = min(commonPrefixLength(keys), keys.length - 8)
  var slots = (0..<keys.count).map { index in
    KeySlot(head: keys[index].bigEndianWord(at: headStart), index: UInt32(index))
  }
  slots.sort { one, other in
    if one.head != other.head { return one.head < other.head }
    return keys[Int(one.index)].precedes(keys[Int(other.index)])
  }
  return slots.map(\.index)
}

private struct KeySlot {
  let head: UInt64
  let index: UInt32
}

private func commonPrefixLength(_ keys: ByteList) -> Int {
  var length = keys.length
  for index in 0..<keys.count {
    let key = keys[index]
    var common = 0
    while common < length, key.byte(at: common) == keys[0].byte(at: common) { common += 1 }
    length = common
  }
  return length
}

extension RawSpan {
  fileprivate func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  fileprivate func bigEndianWord(at offset: Int) -> UInt64 {
    unsafe UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  fileprivate func precedes(_ other: RawSpan) -> Bool {
    for offset in 0..<byteCount where byte(at: offset) != other.byte(at: offset) {
      return byte(at: offset) < other.byte(at: offset)
    }
    return false
  }
}
