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
  /// - Throws: the error of an earlier one.
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
