/// One of the layers that a spilled transaction, or a fold into a tree below a level, is merged from, in the order of its keys.
enum SpillInput {
  case run(RunInput)
  case buffer(BufferInput)
  case overlay(OverlayRunInput)
  case level(LevelRunInput)
  case changes(SpilledChangesInput)

  @inline(__always)
  func advance() throws(StoreError) -> Bool {
    switch self {
    case .run(let input): try input.advance()
    case .buffer(let input): try input.advance()
    case .overlay(let input): try input.advance()
    case .level(let input): try input.advance()
    case .changes(let input): try input.advance()
    }
  }

  /// The number of operations at most; nil if it is not known.
  var countMax: Int? {
    switch self {
    case .run(let input): input.count
    case .buffer(let input): input.countMax
    case .overlay, .level, .changes: nil
    }
  }

  /// Until the input moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      switch self {
      case .run(let input): unsafe _overrideLifetime(input.key, borrowing: self)
      case .buffer(let input): unsafe _overrideLifetime(input.key, borrowing: self)
      case .overlay(let input): unsafe _overrideLifetime(input.key, borrowing: self)
      case .level(let input): unsafe _overrideLifetime(input.key, borrowing: self)
      case .changes(let input): unsafe _overrideLifetime(input.key, borrowing: self)
      }
    }
  }

  /// The operation, as `RunValue` reads it. Until the input moves.
  var stored: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      switch self {
      case .run(let input): unsafe _overrideLifetime(input.stored, borrowing: self)
      case .buffer(let input): unsafe _overrideLifetime(input.stored, borrowing: self)
      case .overlay(let input): unsafe _overrideLifetime(input.stored, borrowing: self)
      case .level(let input): unsafe _overrideLifetime(input.stored, borrowing: self)
      case .changes(let input): unsafe _overrideLifetime(input.stored, borrowing: self)
      }
    }
  }

  var schemaVersion: UInt32 {
    @inline(__always)
    get {
      switch self {
      case .run(let input): input.schemaVersion
      case .buffer(let input): input.schemaVersion
      case .overlay(let input): input.schemaVersion
      case .level(let input): input.schemaVersion
      case .changes(let input): input.schemaVersion
      }
    }
  }
}

/// What an overlay says of a tree, as a run would.
final class OverlayRunInput {
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var input: OverlayInput
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  /// That of the last put: a removal has none, and would divide a leaf if it had another.
  @exclusivity(unchecked) private var version: UInt32 = 1

  init(_ tree: OverlayTree, within interval: KeyInterval = .all) {
    unsafe input = OverlayInput(tree, within: interval)
  }

  func advance() throws(StoreError) -> Bool {
    guard try unsafe input.advance() else { return false }
    unsafe bytes.removeAll(keepingCapacity: true)
    let isRemoval = unsafe input.isRemoval
    unsafe bytes.append(isRemoval ? RunValue.Kind.removal.rawValue : RunValue.Kind.put.rawValue)
    if isRemoval { return true }
    unsafe bytes.append(input.value)
    unsafe version = input.schemaVersion
    return true
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(input.key, borrowing: self) }
  }

  var stored: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(bytes.rawSpan, borrowing: self) }
  }

  var schemaVersion: UInt32 { unsafe version }
}
