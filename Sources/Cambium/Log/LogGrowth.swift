/// Zeros to be written behind the end of a log's spare file, so that later flushes there need not touch
/// the file's metadata. It knows nothing of the log, and can run on another thread.
struct LogGrowth: Sendable {
  let file: any File
  /// The file's number.
  let number: Int
  /// The blocks to be written.
  let blocks: Range<UInt32>

  /// Writes and flushes the zeros.
  ///
  /// - Throws: `.full`, `.io`. What was written is of no use, and does no harm.
  func run() throws(StoreError) {
    try file.writeZeros(blocks, at: .logGrowWrite)
    try file.sync(at: .logGrowSync)
  }
}
