extension Overlay {
  /// All that the overlay says, as a frame of the log holds it.
  ///
  /// - Complexity: O(bytes of the entries).
  func operations(_ names: TreeNames) -> FrameBuffer {
    let buffer = FrameBuffer(capacity: byteCount)
    var statedVersion: UInt32?
    for tree in trees {
      let name = Array(names.name(of: tree).utf8)
      buffer.appendTree(name.rawSpan)
      if self[tree].hidesBase { buffer.appendClear() }
      var cursor = OverlayCursor(self[tree])
      var isOnEntry = cursor.first()
      while isOnEntry {
        if !cursor.isRemoval, cursor.schemaVersion != statedVersion {
          buffer.appendSchemaVersion(cursor.schemaVersion)
          statedVersion = cursor.schemaVersion
        }
        buffer.append(cursor)
        isOnEntry = cursor.next()
      }
    }
    return buffer
  }
}

extension FrameBuffer {
  fileprivate func append(_ cursor: borrowing OverlayCursor) {
    switch cursor.change {
    case 1: appendAdd(key: cursor.key, value: cursor.value)
    case 0: appendReplace(key: cursor.key, value: cursor.value)
    default: appendRemove(key: cursor.key)
    }
  }
}
