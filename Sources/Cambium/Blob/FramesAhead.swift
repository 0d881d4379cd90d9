#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The frames of a blob from front to back, some of them decompressed before they are asked for.
final class FramesAhead {
  private struct Frame {
    let index: Int
    let task: FrameDecompression
    let content: BlobMemory
    let fetched: FetchedFrames
  }

  private let reading: BlobFrameReader
  private let count: Int
  /// The frame that was asked for last.
  private var present: (index: Int, content: Data)?
  /// Those under way, in order.
  private var ahead: [Frame] = []
  /// Fetched bytes that are not being decompressed yet begin here.
  private var next: Int
  private var fetched: FetchedFrames?
  /// How many may be under way. It doubles, so that who reads a few bytes does not pay for more.
  private var window = 1

  init(_ reading: BlobFrameReader, from index: Int) {
    self.reading = reading
    count = BlobLayout.frameCount(length: reading.count)
    next = index
  }

  deinit {
    for frame in ahead { reading.crew.withdraw(frame.task) }
  }

  /// How many bytes of memory it holds, besides the tail of a very long blob.
  var memory: Int {
    // Fetched bytes are kept for as long as a frame under way is in it.
    var pieces: [ObjectIdentifier: Int] = [:]
    for frame in ahead { pieces[ObjectIdentifier(frame.fetched)] = frame.fetched.memoryCount }
    if let fetched { pieces[ObjectIdentifier(fetched)] = fetched.memoryCount }
    return pieces.values.reduce(present?.content.count ?? 0, +)
      + ahead.reduce(0) { $0 + $1.content.count }
  }

  /// The content in a range, which begins no earlier than the one before ended.
  ///
  /// - Throws: `.corrupt`, `.io`, `.forked`.
  func content(in range: Range<Int>) throws(StoreError) -> Data {
    if range.isEmpty { return Data() }
    let first = range.lowerBound / BlobLayout.frameLength
    let last = (range.upperBound - 1) / BlobLayout.frameLength
    if first == last { return try part(range, of: first) }
    var data = try part(range.clamped(to: 0..<(first + 1) * BlobLayout.frameLength), of: first)
    data.reserveCapacity(range.count)
    for index in first + 1...last {
      let start = index * BlobLayout.frameLength
      let part = range.clamped(to: start..<start + BlobLayout.frameLength)
      data.append(try self.part(part, of: index))
    }
    return data
  }

  private func part(_ range: Range<Int>, of index: Int) throws(StoreError) -> Data {
    let content = try frame(index)
    let start = index * BlobLayout.frameLength
    if range.count == content.count { return content }
    return content.bytes(in: range.lowerBound - start..<range.upperBound - start)
  }

  private func frame(_ index: Int) throws(StoreError) -> Data {
    if let present, present.index == index { return present.content }
    if ahead.first?.index != index { begin(at: index) }
    do throws(StoreError) {
      try goAhead()
      let frame = ahead.removeFirst()
      if window == 1 { frame.task.perform() } else { reading.crew.finish(frame.task) }
      try frame.task.get()
      window = min(2 * window, reading.crew.window)
      let content = frame.content.data()
      present = (index, content)
      return content
    } catch {
      begin(at: index)
      throw error
    }
  }

  /// Forgets the frames under way.
  private func begin(at index: Int) {
    for frame in ahead where window > 1 { reading.crew.withdraw(frame.task) }
    ahead = []
    fetched = nil
    next = index
    window = 1
  }

  /// Has as many frames under way as there may be.
  private func goAhead() throws(StoreError) {
    while ahead.count < window, next < count {
      let fetched = try fetchNext()
      let content = try BlobMemory(count: fetched.length(of: next))
      let task = FrameDecompression(
        next, of: fetched, 0..<content.count, to: content, at: 0, by: reading.crew.contexts)
      if window > 1 { reading.crew.submit(task) }
      ahead.append(Frame(index: next, task: task, content: content, fetched: fetched))
      next += 1
    }
  }

  /// The fetched bytes with the next frame.
  private func fetchNext() throws(StoreError) -> FetchedFrames {
    if let fetched, fetched.indices.contains(next) { return fetched }
    let last = window == 1 ? next : count - 1
    let fetched = try reading.fetch(from: next, through: last)
    self.fetched = fetched
    return fetched
  }
}
