// MARK: - Reading

extension BlobFiles {
  /// Opens segments, those that are not open, and keeps them open until they are removed or released.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  func open(_ numbers: [UInt32]) throws(StoreError) {
    for number in numbers.sortedRarely() { _ = try segment(number) }
  }

  /// Opens those of the segments that exist and are whole. Reading a blob in one of the others throws.
  ///
  /// - Throws: `.newerFormat`, `.io`.
  func openReadable(_ numbers: [UInt32]) throws(StoreError) {
    for number in numbers.sortedRarely() {
      do throws(StoreError) { _ = try segment(number) } catch {
        switch error {
        case .missing, .corrupt: continue
        default: throw error
        }
      }
    }
  }

  /// All segments that are open, ascending by number. A caller that keeps this value can read in them whatever is
  /// removed later: a reader of one of them is made from here on for as long.
  ///
  /// - Complexity: O(1).
  var openSegments: [BlobSegment] {
    lock.lock()
    defer { lock.unlock() }
    return segments
  }

  /// A reader of a blob. Nothing is read yet; its segment is opened if it is not.
  ///
  /// - Throws: `.corrupt`, also where the segment's file is gone; `.newerFormat`, `.io`.
  func reader(
    of identity: BlobIdentity, at place: BlobPlace
  ) throws(StoreError) -> BlobFrameReader {
    let segment: BlobSegment
    do throws(StoreError) { segment = try self.segment(place.segment) } catch {
      guard case .missing(let path) = error else { throw error }
      throw .corrupt(
        .blobSegment(place.segment), invariant: .blobSegmentHeader,
        reason: "its file \(path) is gone")
    }
    return BlobFrameReader(
      identity, at: place, in: segment, of: medium, seed: seed, crew: crew)
  }

  /// Closes the segments but these and those that are written to, as far as no other object has them: another process
  /// has removed them.
  func release(but numbers: [UInt32]) {
    let kept = Set(numbers)
    lock.lock()
    defer { lock.unlock() }
    for segment in segments where !kept.contains(segment.number) {
      if appenders[segment.number] == nil { forget(segment) }
    }
  }

  private func segment(_ number: UInt32) throws(StoreError) -> BlobSegment {
    if let segment = known(number) { return segment }
    let opened = try BlobSegment(opening: number, seed: seed, in: medium)
    lock.lock()
    defer { lock.unlock() }
    return insert(opened)
  }

  private func known(_ number: UInt32) -> BlobSegment? {
    lock.lock()
    defer { lock.unlock() }
    let index = index(of: number)
    if index < segments.count, segments[index].number == number { return segments[index] }
    return removed[number]?.segment
  }

  /// Keeps a segment, or returns the one that another thread has opened meanwhile. Under `lock`.
  @discardableResult
  func insert(_ segment: BlobSegment) -> BlobSegment {
    let index = index(of: segment.number)
    if index < segments.count, segments[index].number == segment.number { return segments[index] }
    segments.insert(segment, at: index)
    return segment
  }

  /// The index of the first open segment whose number is no lower. Under `lock`.
  private func index(of number: UInt32) -> Int {
    var low = 0
    var high = segments.count
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Keeps a segment no longer, but knows it as long as others do. Under `lock`.
  private func forget(_ segment: BlobSegment) {
    segments.removeAll { $0 === segment }
    removed = removed.filter { $0.value.segment != nil }
    removed[segment.number] = RemovedSegment(segment: segment)
  }
}

// MARK: - Removing

extension BlobFiles {
  /// The segments in which streams are open, or finished blobs not released; ascending.
  var pinnedSegments: [UInt32] {
    lock.lock()
    defer { lock.unlock() }
    return pins.keys.sortedRarely()
  }

  /// Sees to it that no stream begins in the segment any more.
  ///
  /// - Returns: false if it is pinned; then nothing has changed.
  func retire(_ number: UInt32) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard pins[number] == nil else { return false }
    free.removeAll { $0.number == number }
    return true
  }

  /// Unlinks a segment that has been retired, or was there before. Readers that have it open can continue.
  ///
  /// A file that is not there is removed already. The directory is not synced: a file that comes back is an
  /// orphan.
  ///
  /// - Throws: `.io`, `.closed`, `.forked`.
  func remove(_ number: UInt32) throws(StoreError) {
    try gate.enter()
    defer { gate.leave() }
    do throws(StoreError) {
      try medium.unlink(.blobs(number), at: .blobUnlink)
    } catch {
      guard case .missing = error else { throw error }
    }
    lock.lock()
    defer { lock.unlock() }
    appenders[number] = nil
    let index = index(of: number)
    if index < segments.count, segments[index].number == number { forget(segments[index]) }
  }

  /// The size of the segment's file: the bytes of blobs and garbage together.
  ///
  /// A file that does not exist counts as empty.
  ///
  /// - Throws: `.io`.
  func size(of number: UInt32) throws(StoreError) -> UInt64 {
    if let segment = known(number) {
      return UInt64(try segment.file.size(at: .blobSegmentOpen))
    }
    do throws(StoreError) {
      let file = try medium.open(.blobs(number), .read, at: .blobSegmentOpen)
      return UInt64(try file.size(at: .blobSegmentOpen))
    } catch {
      guard case .missing = error else { throw error }
      return 0
    }
  }
}
