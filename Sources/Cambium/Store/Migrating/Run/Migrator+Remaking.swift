// Records put together anew: by values, where keys change, or by a program's closure.

extension Migrator {
  /// Goes through the records of a tree in slices. What it makes is added to other trees, in the commit that
  /// also says how far it came.
  func remake(
    _ task: MigrationTask.Remake, _ mark: inout MigrationMark
  ) throws(StoreError) {
    let remaking = try Remaking(
      task, from: try entities(of: task.from, task.oldTypes),
      to: try entities(of: task.to, task.newTypes), aside: try slot(task.to.places.aside),
      in: try backend.trees())
    if mark.cursor.isEmpty { mark.counts = try counts(of: remaking) }
    var done = 0
    var isDone = false
    while !isDone {
      try monitor.look()
      let before = try backend.trees()
      let start = mark.cursor
      // Each slice goes over all that was made before, so slices grow with it.
      let slice = max(sliceCount, done / 4)
      let cursor = try before.cursor(in: remaking.source.rows)
      var isOn = try cursor.seek(behind: start)
      var next = mark
      try backend.commit { trees throws(StoreError) in
        let sink = AddingSink(trees, remaking.new)
        let emit = remaking.emitter(to: sink)
        var count = 0
        while isOn, count < slice {
          count += 1
          if count == slice { next.cursor = cursor.key.array() }
          try remaking.remake(cursor.key, try cursor.value(), emit) {
            entry, tree throws(StoreError) in
            try sink.setAside(entry, in: tree)
          }
          try monitor.step()
          isOn = try cursor.next()
        }
        done += count
        for (number, added) in sink.added { next.counts[number, default: 0] += UInt64(added) }
        isDone = !isOn
        try (isDone ? self.done(next) : next).put(into: trees, backend.names)
      }
      for (number, count) in next.counts {
        guard let trees = remaking.target(number) else { continue }
        if try backend.trees().count(in: trees.rows) == Int(count) { continue }
        throw try duplicate(remaking, behind: start, count: slice, before)
      }
      mark = next
    }
  }

  private func counts(of remaking: Remaking) throws(StoreError) -> [UInt32: UInt64] {
    var counts: [UInt32: UInt64] = [:]
    let trees = try backend.trees()
    for target in remaking.targets {
      counts[target.record.number] = UInt64(try trees.count(in: target.rows))
    }
    return counts
  }

  /// Finds a key that was emitted twice in a slice, or in it and before, and the records that it is of.
  private func duplicate(
    _ remaking: Remaking, behind start: [UInt8], count: Int, _ before: TreeAccess
  ) throws(StoreError) -> StoreError {
    var seen: [EmittedKey: [UInt8]] = [:]
    var found: (key: EmittedKey, source: [UInt8], other: [UInt8]?)?
    try forEachSource(remaking, in: before, behind: start, count: count) {
      source, emitted throws(StoreError) in
      guard found == nil else { return }
      let key = emitted.key
      if let other = seen.updateValue(source, forKey: key) {
        found = (key, source, other)
      } else if let trees = remaking.target(key.record),
        try before.contains(key.bytes.rawSpan, in: trees.rows)
      {
        found = (key, source, nil)
      }
    }
    guard let found, let trees = remaking.target(found.key.record) else {
      return .stepFailed(
        version: Int(remaking.version), source: remaking.source.record.name,
        reason: "it does not emit the same each time")
    }
    var other = found.other
    if other == nil {
      try forEachSource(remaking, in: before, behind: [], count: .max) {
        source, emitted throws(StoreError) in
        if other == nil, emitted.key == found.key { other = source }
      }
    }
    let name = remaking.source.record.name
    let first = other.map { "\(name) \(remaking.source.text(ofKey: $0.rawSpan))" }
    return .stepFailed(
      version: Int(remaking.version),
      source: "\(name) \(remaking.source.text(ofKey: found.source.rawSpan))",
      reason:
        "it makes the \(trees.record.name) \(trees.text(ofKey: found.key.bytes.rawSpan)), which "
        + (first.map { "\($0) makes too" } ?? "is there already"))
  }

  private func forEachSource(
    _ remaking: Remaking, in trees: TreeAccess, behind start: [UInt8], count: Int,
    _ body:
      @escaping (_ source: [UInt8], _ emitted: SearchingSink.Emitted) throws(StoreError) -> Void
  ) throws(StoreError) {
    let sink = SearchingSink(body)
    let emit = remaking.emitter(to: sink)
    let cursor = try trees.cursor(in: remaking.source.rows)
    var isOn = try cursor.seek(behind: start)
    var left = count
    while isOn, left > 0 {
      sink.source = cursor.key.array()
      try remaking.remake(cursor.key, try cursor.value(), emit) { _, _ in }
      left -= 1
      isOn = try cursor.next()
    }
  }
}

extension MigrationTask.Remake {
  fileprivate var oldTypes: [any Record.Type] {
    guard case .closure(let transform, _) = kind else { return [] }
    return [transform.source.type].compactMap { $0 }
  }

  fileprivate var newTypes: [any Record.Type] {
    guard case .closure(let transform, _) = kind else { return [] }
    return transform.targets.compactMap(\.type)
  }
}

// MARK: - Looking

/// A key of a new record.
private struct EmittedKey: Hashable {
  let record: UInt32
  let bytes: [UInt8]
}

/// Looks at what is emitted, and keeps nothing.
private final class SearchingSink: EmitterSink {
  struct Emitted {
    let key: EmittedKey
  }

  var source: [UInt8] = []
  private let body: ([UInt8], Emitted) throws(StoreError) -> Void

  init(_ body: @escaping ([UInt8], Emitted) throws(StoreError) -> Void) {
    self.body = body
  }

  func add(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    try body(source, Emitted(key: EmittedKey(record: target.record.number, bytes: key.array())))
  }

  /// Writes a record; merged records never exist twice.
  func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {}

  func blobFinder(of target: Entity) -> BlobFinder? { nil }

  func copy(
    _ key: RawSpan, of target: Entity, to row: inout [UInt8]
  ) throws(StoreError) -> Bool { false }
}
