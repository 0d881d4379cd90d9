package import Cambium

/// The calls as tests like to write them: with arrays, and at the tests' own site.
extension FileSystem {
  package func create(_ name: FileName, _ bytes: [UInt8] = []) throws(StoreError) -> File {
    let file = try open(name, .create, at: .test)
    try write(bytes, to: file, from: 0)
    return file
  }

  package func write(_ bytes: [UInt8], to file: File, from offset: Int) throws(StoreError) {
    try unsafe write(bytes.span.bytes, to: file, from: offset, at: .test)
  }

  package func read(_ file: File, _ range: Range<Int>) throws(StoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: range.count)
    var span = bytes.mutableSpan
    var buffer = unsafe span.mutableBytes
    let count = try read(file, into: &buffer, from: range.lowerBound, at: .test)
    return Array(bytes.prefix(count))
  }

  package func contents(of file: File) throws(StoreError) -> [UInt8] {
    try read(file, 0..<size(of: file, at: .test))
  }

  package func contents(of name: FileName) throws(StoreError) -> [UInt8] {
    try contents(of: open(name, .read, at: .test))
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
