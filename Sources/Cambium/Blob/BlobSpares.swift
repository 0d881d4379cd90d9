/// Memory of streams that have ended, for those to come.
final class BlobSpares: @unchecked Sendable {
  private let crew: BlobCrew
  private let bufferSize: Int
  private let lock = ThreadLock()
  // Under `lock`.
  private var tasks: [FrameCompression] = []
  private var buffers: [BlobMemory] = []

  /// How many buffers are kept. A program with more streams at once makes some again.
  private static let bufferCountMax = 4

  init(for crew: BlobCrew, bufferSize: Int) {
    self.crew = crew
    self.bufferSize = bufferSize
  }

  func takeTask() throws(StoreError) -> FrameCompression {
    if let task = popTask() { return task }
    return try FrameCompression(crew.contexts)
  }

  func give(_ task: FrameCompression) {
    task.clear()
    lock.lock()
    defer { lock.unlock() }
    if tasks.count < crew.window { tasks.append(task) }
  }

  func takeBuffer() throws(StoreError) -> BlobMemory {
    if let buffer = popBuffer() { return buffer }
    return try BlobMemory(count: bufferSize)
  }

  func give(_ buffer: BlobMemory) {
    lock.lock()
    defer { lock.unlock() }
    if buffers.count < Self.bufferCountMax { buffers.append(buffer) }
  }

  private func popTask() -> FrameCompression? {
    lock.lock()
    defer { lock.unlock() }
    return tasks.popLast()
  }

  private func popBuffer() -> BlobMemory? {
    lock.lock()
    defer { lock.unlock() }
    return buffers.popLast()
  }
}
