/// The write of a full buffer, on any thread, while the stream fills another one.
final class BlobBlockWrite: CrewTask, @unchecked Sendable {
  let buffer: BlobMemory
  private let appender: BlobAppender
  private let offset: UInt64
  /// The error, if any.
  private(set) var failure: StoreError?

  /// - Parameter offset: Of the first byte of the buffer in the file.
  init(_ buffer: BlobMemory, by appender: BlobAppender, at offset: UInt64) {
    self.buffer = buffer
    self.appender = appender
    self.offset = offset
  }

  override func perform() {
    do throws(StoreError) {
      let buffer = buffer
      try appender.write(buffer.bytes(0..<buffer.count), at: offset)
    } catch {
      failure = error
    }
  }
}
