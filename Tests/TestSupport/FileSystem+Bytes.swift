package import Cambium

/// The calls as tests like to write them: with arrays, and at the tests' own site.
extension FileSystem {
  package func create(_ name: FileName, _ bytes: [UInt8] = []) throws(StoreError) -> any File {
    let file = try open(name, .create, at: .test)
    try file.write(bytes, from: 0)
    return file
  }

  package func contents(of name: FileName) throws(StoreError) -> [UInt8] {
    try open(name, .read, at: .test).contents()
  }
}

extension File {
  package func write(_ bytes: [UInt8], from offset: Int) throws(StoreError) {
    try unsafe write(bytes.span.bytes, from: offset, at: .test)
  }

  package func read(_ range: Range<Int>) throws(StoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: range.count)
    var span = bytes.mutableSpan
    var buffer = unsafe span.mutableBytes
    let count = try read(into: &buffer, from: range.lowerBound, at: .test)
    return Array(bytes.prefix(count))
  }

  package func contents() throws(StoreError) -> [UInt8] {
    try read(0..<size(at: .test))
  }
}

extension FileMapping {
  package func array(_ range: Range<Int>) -> [UInt8] {
    let span = bytes(range)
    return span.byteOffsets.map {
      unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
    }
  }
}
