/// A blob that is not in memory, whatever the medium it is on: what a `Blob` holds.
///
/// Asking for identity and count reads nothing.
protocol BlobSource: AnyObject, Sendable {
  var identity: BlobIdentity { get }
  /// How long its content is.
  var count: Int { get }

  /// What its content is read by. It keeps the segment open.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  func reading() throws(StoreError) -> any BlobReading
}

/// The frames of one blob, whatever the medium.
///
/// May be used by many threads at once.
protocol BlobReading: BlobSource {
  /// Who decompresses.
  var crew: BlobCrew { get }

  /// Reads some frames at once, of which the first is `first`, and none is behind `last`.
  ///
  /// - Precondition: There are such frames.
  /// - Throws: `.corrupt`, `.io`, `.forked`.
  func fetch(from first: Int, through last: Int) throws(StoreError) -> FetchedFrames
}

extension BlobReading {
  /// The content in `range`, which lies within it.
  ///
  /// - Complexity: O(range), on all cores where there are several frames.
  /// - Throws: `.corrupt`, `.io`, `.forked`.
  func content(in range: Range<Int>) throws(StoreError) -> BlobMemory {
    if range.isEmpty { return try BlobMemory(count: 0) }
    let last = (range.upperBound - 1) / BlobLayout.frameLength
    // First something is read: so that a reference to what cannot be is found out before it decides how much
    // memory is taken.
    let fetched = try fetch(from: range.lowerBound / BlobLayout.frameLength, through: last)
    let content = try BlobMemory(count: range.count)
    var window = DecompressionWindow(crew)
    do throws(StoreError) {
      try decompress(fetched, and: last, range, to: content, &window)
      try window.finish()
    } catch {
      window.withdraw()
      throw error
    }
    return content
  }

  /// Has all frames of a range decompressed, of which the first were fetched.
  private func decompress(
    _ fetched: FetchedFrames, and last: Int, _ range: Range<Int>, to content: BlobMemory,
    _ window: inout DecompressionWindow
  ) throws(StoreError) {
    var fetched = fetched
    while true {
      for index in fetched.indices {
        let task = decompression(of: index, of: fetched, range, to: content)
        try window.add(task, isOnly: index == last && window.isEmpty)
      }
      let next = fetched.indices.upperBound
      if next > last { return }
      fetched = try fetch(from: next, through: last)
    }
  }

  private func decompression(
    of index: Int, of fetched: FetchedFrames, _ range: Range<Int>, to content: BlobMemory
  ) -> FrameDecompression {
    let start = index * BlobLayout.frameLength
    let frame = start..<start + fetched.length(of: index)
    let part = frame.clamped(to: range)
    return FrameDecompression(
      index, of: fetched, part.lowerBound - start..<part.upperBound - start, to: content,
      at: part.lowerBound - range.lowerBound, by: crew.contexts)
  }
}

/// Decompressions under way, so many that the crew always has some and none is far ahead.
struct DecompressionWindow {
  private let crew: BlobCrew
  /// In the order in which they were added.
  private var tasks: [FrameDecompression] = []

  init(_ crew: BlobCrew) {
    self.crew = crew
  }

  var isEmpty: Bool { tasks.isEmpty }

  /// Has a task done; the only one there is, at once.
  ///
  /// - Throws: what went wrong with an earlier one.
  mutating func add(_ task: FrameDecompression, isOnly: Bool) throws(StoreError) {
    if isOnly {
      task.perform()
      return try task.get()
    }
    if tasks.count == crew.window { try finishFirst() }
    crew.submit(task)
    tasks.append(task)
  }

  /// Waits for all.
  mutating func finish() throws(StoreError) {
    while !tasks.isEmpty { try finishFirst() }
  }

  private mutating func finishFirst() throws(StoreError) {
    let task = tasks.removeFirst()
    crew.finish(task)
    try task.get()
  }

  /// Sees to it that nothing is done any more.
  mutating func withdraw() {
    for task in tasks { crew.withdraw(task) }
    tasks = []
  }
}
