/// Carries out again what a log's frames say, in memory.
struct LogReplay: ~Copyable {
  private let base: Base
  private let names: TreeNames
  private var editor: OverlayEditor
  private(set) var sequence: UInt64
  /// The commits whose changes the trees did not hold. Those in an overlay are counted by their sequences.
  private(set) var commitCount = 0
  private let notes: ReplayNotes?
  /// The trees that frames named.
  private var named: Set<TreeSlot> = []

  init(
    over base: Base, capacity: Int, names: TreeNames, notes: ReplayNotes? = nil
  ) {
    self.base = base
    self.notes = notes
    self.names = names
    editor = OverlayEditor(over: Overlay(OverlayArena(capacity: capacity)))
    sequence = base.coveredSequence
  }

  /// Goes on from a state that was replayed before, and which stays as it is.
  ///
  /// - Precondition: nobody else goes on from it, or from one before it.
  init(behind state: StoreState, names: TreeNames, notes: ReplayNotes? = nil) {
    base = state.base
    self.notes = notes
    self.names = names
    editor = OverlayEditor(over: state.fresh)
    sequence = state.sequence
  }

  /// Carries out the frames that `reader` comes to before `end`.
  ///
  /// - Throws: `.corrupt`, `.io`; then there is nothing to do but to drop it.
  mutating func run(
    _ reader: inout LogReader, before end: LogPosition? = nil
  ) throws(StoreError) {
    while true {
      // The end may be where a use begins.
      try reader.passReadUses()
      if let end, !reader.position.isBefore(end) { return }
      guard let frame = try reader.next() else { return }
      switch frame.kind {
      case .commits: try commits(reader.payload, frame.sequences, at: reader.place)
      case .overlay: try overlay(reader.payload, frame.sequences, at: reader.place)
      case .footer, .seal: break
      }
    }
  }

  /// Carries out a frame's commits, but for those that are in the trees.
  private mutating func commits(
    _ payload: RawSpan, _ sequences: ClosedRange<UInt64>, at place: StoreError.CorruptPlace
  ) throws(StoreError) {
    var commits = CommitReader(payload, sequences: sequences, at: place)
    var next = sequences.lowerBound
    while let operations = try commits.next() {
      if next > sequence {
        try carryOut(operations, of: next, at: place)
        commitCount += 1
        sequence = next
      }
      next += 1
    }
  }

  /// Carries out what stands for several commits, of which all or none are in the trees.
  private mutating func overlay(
    _ payload: RawSpan, _ sequences: ClosedRange<UInt64>, at place: StoreError.CorruptPlace
  ) throws(StoreError) {
    if sequences.upperBound <= sequence { return }
    // What one of the commits added and a later one removed is not in it, and may have been in that state.
    if let notes, sequences.contains(notes.sequence) { notes.keys.noteEverything() }
    try carryOut(payload, of: sequences.upperBound, at: place)
    commitCount += Int(clamping: sequences.upperBound - sequences.lowerBound) + 1
    sequence = sequences.upperBound
  }

  /// - Parameter last: The last of the commits that the operations are of.
  private mutating func carryOut(
    _ operations: RawSpan, of last: UInt64, at place: StoreError.CorruptPlace
  ) throws(StoreError) {
    let notes = notes.flatMap { last > $0.sequence ? $0.keys : nil }
    var reader = OperationReader(operations, at: place)
    var tree: TreeSlot?
    while let operation = try reader.next() {
      if operation.kind == .tree {
        tree = try slot(of: operation, at: place)
      } else if let tree {
        guard carryOut(operation, in: tree) else {
          throw .corrupt(
            place, invariant: .logOperations,
            reason: "an operation of kind \(operation.kind) does not fit what was before")
        }
        notes?.note(operation, in: tree)
      }
    }
  }

  /// The tree that an operation names. Each takes memory, so there must not be more than could ever be published.
  private mutating func slot(
    of operation: borrowing LogOperation, at place: StoreError.CorruptPlace
  ) throws(StoreError) -> TreeSlot {
    let slot = try names.slot(of: String(decoding: operation.key.array(), as: UTF8.self))
    guard named.insert(slot).inserted, named.count > 2 * Footer.treeCountMax else { return slot }
    // Of some nothing may be left. As half of them at least are forgotten, the others are counted seldom enough.
    named = Set(editor.present.trees)
    if named.count > Footer.treeCountMax {
      throw .corrupt(
        place, invariant: .logOperations,
        reason: "there are more trees than the \(Footer.treeCountMax) that a footer has room for")
    }
    return slot
  }

  /// False if it cannot be what was done: the key is there already, or is not there.
  private mutating func carryOut(_ operation: borrowing LogOperation, in tree: TreeSlot) -> Bool {
    switch operation.kind {
    case .tree, .schemaVersion: return true
    case .add, .replace:
      return editor.put(
        operation.key, operation.value, schemaVersion: operation.schemaVersion,
        isNew: operation.kind == .add, in: tree)
    case .remove: return editor.remove(operation.key, in: tree)
    case .clear:
      editor.clear(tree)
      return true
    }
  }

  consuming func finish() -> StoreState {
    StoreState(sequence: sequence, base: base, frozen: nil, fresh: editor.finish())
  }

  /// Takes back what was carried out. The state that it went on from stays as it is.
  consuming func abort() { editor.abort() }
}

/// Takes down the keys that are changed by commits after one.
struct ReplayNotes {
  let keys: KeyNotes
  let sequence: UInt64
}

extension KeyNotes {
  fileprivate func note(_ operation: borrowing LogOperation, in tree: TreeSlot) {
    switch operation.kind {
    case .tree, .schemaVersion: break
    case .add, .replace, .remove: note(operation.key, in: tree)
    case .clear: noteAll(in: tree)
    }
  }
}
