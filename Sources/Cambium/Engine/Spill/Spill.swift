/// What a transaction did after it had become larger than its memory budget.
///
///     buffer    of a tree: puts in the order they came, or       in memory, without lookups
///     overlay   changes that were made since it was read       in memory
///     runs      what was before, sorted                        in temporary segments
///     loaded    entries that came after the last key, sorted   in segments of the store
///     …         the transaction's first changes, in its editor; what it began with
///
/// Puts go blindly to a tree's buffer. When the tree is read, they go over to an overlay of the spill's own, and
/// so do further changes of it; other trees, like those of indexes that nobody looks into, stay blind. When all
/// of that is full it becomes a run for each tree, and of many runs one is made.
///
/// Keys that ascended, the first of them after the last key of the tree, become no run. They are written as the commit would
/// have them, once: as a loaded tree, which the commit links after the tree as it was.
///
/// A removal looks first whether the key is there. After a failure everything throws it again, until the
/// transaction goes back to a savepoint before.
///
/// A class of one owner on one thread, so accesses cannot overlap.
final class Spill {
  /// The runs of one tree.
  struct TreeRuns {
    /// Oldest first. Their levels never rise.
    var runs: [Run] = []
    /// Below all runs, of which no older one has a key among theirs.
    var loaded = LoadedTrees()
    /// Whether what lies below the runs and loaded trees does not count.
    var hidesOlder = false
  }

  typealias Runs = [TreeSlot: TreeRuns]

  private let place: RunPlace
  /// All that was there when the transaction became too large.
  private let below: StoreState
  let loads: Loads
  /// The bytes that buffers and overlay may take.
  private let capacity: Int
  private let runsMax: Int
  private let pool: ChunkPool
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var runs: Runs = [:]
  @exclusivity(unchecked) private var buffers: [TreeSlot: RunBuffer] = [:]
  /// By the number of a tree: its buffer, if puts go there, as far as it was found since any buffer was taken away.
  @exclusivity(unchecked) private var foundBuffers: [RunBuffer?] = []
  @exclusivity(unchecked) private var bufferSize = 0
  @exclusivity(unchecked) private var editor: OverlayEditor?
  @exclusivity(unchecked) private var largeValues: LargeValues
  /// Of the changes in the overlay.
  @exclusivity(unchecked) private var order = PutOrder()
  @exclusivity(unchecked) private var savepoints: [Savepoint] = []
  /// What made it unusable.
  @exclusivity(unchecked) private var failure: StoreError?

  /// - Parameter below: What it can read until the transaction is over.
  init(
    in place: RunPlace, over below: StoreState, names: TreeNames, capacity: Int, runsMax: Int
  ) {
    self.place = place
    self.below = below
    loads = Loads(in: place, names: names)
    self.capacity = capacity
    pool = ChunkPool(keepingUpTo: capacity / ChunkPool.chunkSize + 1)
    self.runsMax = max(2, runsMax)
    unsafe largeValues = LargeValues(in: place)
  }

  /// What may be taken over from a buffer to an overlay, or stay in memory at a savepoint; more becomes a run.
  private var smallSize: Int { capacity / 8 }

  /// What is in memory.
  private var byteCount: Int { unsafe bufferSize &+ (editor?.present.byteCount ?? 0) }

  func checkUsable() throws(StoreError) {
    if let failure = unsafe failure { throw failure }
  }

  /// Runs `body`, which must not end halfway.
  private func wholly<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    try checkUsable()
    do throws(StoreError) {
      return try body()
    } catch {
      unsafe failure = error
      throw error
    }
  }
}

// MARK: - Changing

extension Spill {
  /// - Precondition: key and value are within the limits of a tree.
  /// - Throws: `.full`, `.io`, from then on always.
  @inline(__always)
  func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, in tree: TreeSlot
  ) throws(StoreError) {
    let size = RunBuffer.size(key, value)
    if value.byteCount < RunValue.largeLength, unsafe failure == nil, byteCount &+ size <= capacity,
      let buffer = buffer(of: tree),
      buffer.append(.put, key, value, schemaVersion: schemaVersion)
    {
      unsafe bufferSize &+= size
      return
    }
    try putSlowly(key, value, schemaVersion: schemaVersion, in: tree)
  }

  /// Does all puts of a batch.
  ///
  /// - Precondition: there is one, and keys and values are within the limits of a tree.
  /// - Throws: what one put does.
  func put(
    _ batch: borrowing PutBatch, schemaVersion: UInt32, in tree: TreeSlot
  ) throws(StoreError) {
    let size = RunBuffer.size(batch)
    if size <= RunValue.largeLength, unsafe failure == nil,
      byteCount &+ size <= capacity, let buffer = buffer(of: tree),
      buffer.append(batch, schemaVersion: schemaVersion)
    {
      unsafe bufferSize &+= size
      return
    }
    for index in 0..<batch.count {
      try put(batch.key(index), batch.value(index), schemaVersion: schemaVersion, in: tree)
    }
  }

  @inline(never)
  private func putSlowly(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, in tree: TreeSlot
  ) throws(StoreError) {
    try makeRoom(for: value.byteCount < RunValue.largeLength ? value : RawSpan())
    if buffer(of: tree) == nil {
      unsafe order.note(key, in: tree)
      changing().put(blindly: key, value, schemaVersion: schemaVersion, in: tree)
    } else if value.byteCount < RunValue.largeLength {
      try append(.put, key, value, schemaVersion: schemaVersion, in: tree)
    } else {
      let reference = try append(largeValue: value, of: tree)
      try append(.largePut, key, reference.rawSpan, schemaVersion: schemaVersion, in: tree)
    }
  }

  private func append(
    largeValue value: RawSpan, of tree: TreeSlot
  ) throws(StoreError) -> [UInt8] {
    try checkUsable()
    var bytes: [UInt8] = []
    do throws(StoreError) {
      try unsafe largeValues.append(value, of: tree).encode(to: &bytes)
    } catch {
      unsafe failure = error
      throw error
    }
    return bytes
  }

  private func append(
    _ kind: RunValue.Kind, _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32,
    in tree: TreeSlot
  ) throws(StoreError) {
    if buffer(of: tree)?.append(kind, key, value, schemaVersion: schemaVersion) != true {
      // Of so many schema versions that no more can be told apart.
      try spill()
      let isDone = buffer(of: tree)?.append(kind, key, value, schemaVersion: schemaVersion)
      assert(isDone == true, "what was spilled is in no overlay, and an empty buffer takes any put")
    }
    unsafe bufferSize += RunBuffer.size(key, value)
  }

  /// Nil where the overlay has the tree: then what is newer goes there too.
  @inline(__always)
  private func buffer(of tree: TreeSlot) -> RunBuffer? {
    let number = Int(tree.number)
    if unsafe number < foundBuffers.count, let buffer = unsafe foundBuffers[number] {
      return buffer
    }
    return findBuffer(of: tree)
  }

  @inline(never)
  private func findBuffer(of tree: TreeSlot) -> RunBuffer? {
    if let changes = unsafe editor?.present[tree], !changes.isEmpty { return nil }
    let buffer = unsafe buffers[tree] ?? RunBuffer(in: pool)
    unsafe buffers[tree] = buffer
    let missing = unsafe Int(tree.number) + 1 - foundBuffers.count
    if missing > 0 { unsafe foundBuffers += [RunBuffer?](repeating: nil, count: missing) }
    unsafe foundBuffers[Int(tree.number)] = buffer
    return buffer
  }

  /// Takes out a key that is there.
  ///
  /// - Precondition: it was looked up, and nothing was changed since.
  func remove(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) {
    try makeRoom()
    let isDone = changing().remove(key, in: tree)
    assert(isDone, "what was looked up a moment ago has not changed")
  }

  /// Takes out all entries of a tree, and drops what is known of it.
  func removeAll(in tree: TreeSlot) {
    unsafe bufferSize -= buffers.removeValue(forKey: tree)?.byteCount ?? 0
    unsafe foundBuffers.removeAll(keepingCapacity: true)
    unsafe editor?.clear(tree)
    unsafe runs[tree] = TreeRuns(hidesOlder: true)
  }

  /// The overlay's editor, for trees whose buffers are empty.
  private func changing() -> OverlayEditor {
    if let editor = unsafe editor { return editor }
    let editor = OverlayEditor(over: Overlay(OverlayArena(capacity: capacity)))
    unsafe self.editor = editor
    return editor
  }
}

extension OverlayEditor {
  /// Gives `key` a value without knowing what lies below.
  fileprivate func put(
    blindly key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, in tree: TreeSlot
  ) {
    let changes = present[tree]
    // As if what lies below had it, unless that does not count.
    let isNew = changes.reference(for: key)?.isRemoval ?? changes.hidesBase
    let isDone = put(key, value, schemaVersion: schemaVersion, isNew: isNew, in: tree)
    assert(isDone, "the overlay agrees with itself")
  }
}

// MARK: - Runs

extension Spill {
  /// Makes a run of what is in memory, if that is full.
  private func makeRoom(for value: RawSpan = RawSpan()) throws(StoreError) {
    try checkUsable()
    let size = byteCount
    if size > 0, size + value.byteCount > capacity { try spill() }
  }

  /// Makes runs of all that is in memory, or loaded trees.
  private func spill() throws(StoreError) {
    try wholly { () throws(StoreError) in
      try spillBuffers()
      try spillOverlay()
      try mergeRuns()
    }
  }

  private func spillBuffers() throws(StoreError) {
    let buffers = unsafe self.buffers.filter { !$0.value.isEmpty }.sortedRarely { $0.key < $1.key }
    dropBuffers()
    if buffers.isEmpty { return }
    var writer = RunWriter(in: place)
    for (tree, buffer) in buffers {
      if try load(buffer, into: tree) { continue }
      let input = SpillInput.buffer(BufferInput(buffer.takeSorted()))
      try unsafe writer.write(
        RunMerge(newestFirst: [input], largeValues: nil), of: tree, level: 0,
        largeValues: &largeValues)
    }
    for (tree, run) in try writer.finish() {
      unsafe runs[tree, default: TreeRuns()].runs.append(run)
    }
  }

  private func dropBuffers() {
    unsafe buffers = [:]
    unsafe foundBuffers.removeAll(keepingCapacity: true)
    unsafe bufferSize = 0
  }

  /// Makes a run of the overlay, and of what open savepoints have of it, so that it need not be kept for them.
  private func spillOverlay() throws(StoreError) {
    guard let editor = unsafe editor else { return }
    for savepoint in unsafe savepoints where savepoint.editor === editor {
      if let overlay = savepoint.overlay {
        savepoint.runs = try runs(of: overlay, above: savepoint.runs, loading: false)
      }
      savepoint.forgetOverlay()
    }
    unsafe runs = try runs(of: editor.present, above: runs, loading: true)
    unsafe self.editor = nil
    unsafe order.removeAll()
  }

  /// - Parameter isLoading: False if the changes are part of others, which may be loaded.
  private func runs(
    of overlay: Overlay, above runs: Runs, loading isLoading: Bool
  ) throws(StoreError) -> Runs {
    var runs = runs
    var writer = RunWriter(in: place)
    for tree in overlay.trees {
      let changes = overlay[tree]
      if changes.hidesBase { runs[tree] = TreeRuns(hidesOlder: true) }
      if isLoading, let loaded = try load(changes, of: overlay, over: runs[tree]) {
        runs[tree, default: TreeRuns()].loaded.append(loaded)
        continue
      }
      let input = SpillInput.overlay(OverlayRunInput(changes))
      try unsafe writer.write(
        RunMerge(newestFirst: [input], largeValues: nil), of: tree, level: 0,
        largeValues: &largeValues)
    }
    for (tree, run) in try writer.finish() { runs[tree, default: TreeRuns()].runs.append(run) }
    return runs
  }

  /// Where a tree has many runs of one level, makes one of them.
  ///
  /// What savepoints have stays theirs: they keep their runs, and the present goes on with fewer.
  private func mergeRuns() throws(StoreError) {
    for tree in unsafe runs.keys.sortedRarely() {
      while let merged = unsafe runs[tree]?.newestOfOneLevel(runsMax), let last = merged.last {
        var writer = RunWriter(in: place)
        let inputs = merged.reversed().map { SpillInput.run(RunInput($0)) }
        try unsafe writer.write(
          RunMerge(newestFirst: inputs, largeValues: nil), of: tree, level: last.level + 1,
          largeValues: &largeValues)
        let made = try writer.finish().map(\.run)
        unsafe runs[tree]?.runs.removeLast(merged.count)
        unsafe runs[tree]?.runs += made
      }
    }
  }
}

extension Spill.TreeRuns {
  /// The newest `count` runs, if all are of one level.
  fileprivate func newestOfOneLevel(_ count: Int) -> [Run]? {
    let newest = runs.suffix(count)
    guard newest.count == count, newest.allSatisfy({ $0.level == runs.last?.level }) else {
      return nil
    }
    return Array(newest)
  }
}

// MARK: - Loading

extension Spill {
  /// Makes a loaded tree of a tree's puts, if all come after its last key, in order.
  ///
  /// - Returns: whether it did. Then the buffer is empty.
  private func load(_ buffer: RunBuffer, into tree: TreeSlot) throws(StoreError) -> Bool {
    guard buffer.isAscending, !buffer.hasLargePuts, buffer.byteCount >= loads.sizeMin,
      let ends = buffer.ends,
      let separator = try unsafe separator(before: ends.first, in: tree, over: runs[tree])
    else { return false }
    let loaded = try loads.write(
      buffer.takeSorted(), after: separator, upTo: ends.last, of: tree)
    if let loaded { unsafe runs[tree, default: TreeRuns()].loaded.append(loaded) }
    return true
  }

  /// Makes a loaded tree of changes that all come after the last key of their tree.
  ///
  /// - Returns: nil if they do not, or are few, or mostly did not come in order.
  private func load(
    _ changes: OverlayTree, of overlay: Overlay, over runs: TreeRuns?
  ) throws(StoreError) -> LoadedTree? {
    let tree = changes.tree
    var cursor = OverlayCursor(changes)
    guard unsafe order.isAscending(tree), overlay.byteCount(of: tree) >= loads.sizeMin,
      cursor.first()
    else { return nil }
    let first = cursor.key.array()
    guard let separator = try separator(before: first, in: tree, over: runs),
      cursor.last()
    else { return nil }
    // Nothing older has the keys of removals.
    return try loads.write(
      OverlayInput(changes), after: separator, upTo: cursor.key.array(), of: tree)
  }

  /// A key above all keys of a tree and not above `key`, which is to come after them; nil if it does not.
  private func separator(
    before key: [UInt8], in tree: TreeSlot, over runs: TreeRuns?
  ) throws(StoreError) -> [UInt8]? {
    var last = runs?.loaded.trees.last?.lastKey
    // What was removed counts too: the removal is merged into what has the key.
    if last == nil, runs?.hidesOlder != true { last = try below.tree(tree).lastKeyOfLayers() }
    for run in runs?.runs ?? [] {
      if let other = last, other.rawSpan.compare(run.lastKey.rawSpan) >= 0 { continue }
      last = run.lastKey
    }
    guard let last else { return [] }
    guard last.rawSpan.compare(key.rawSpan) < 0 else { return nil }
    return Separator.shortest(between: last.rawSpan, and: key.rawSpan)
  }
}

// MARK: - Reading

extension Spill {
  /// A tree with all that was done to it, over what was below. Until the next change.
  ///
  /// - Throws: `.full`, `.io`, from then on always: what is in the buffer may have to become a run.
  func tree(_ slot: TreeSlot) throws(StoreError) -> TransactionTree {
    try emptyBuffer(of: slot)
    let below = below.tree(slot)
    let runs = unsafe self.runs[slot] ?? TreeRuns()
    let editor = unsafe self.editor
    let changes = editor?.present[slot]
    let hidesRuns = changes?.hidesBase ?? false
    let nothing = LayeredTree(overlays: [], over: Tree(pages: below.base.pages, root: nil))
    return TransactionTree(
      changes: changes, of: editor, runs: hidesRuns ? [] : runs.runs.reversed(),
      loaded: hidesRuns ? LoadedTrees() : runs.loaded,
      below: hidesRuns || runs.hidesOlder ? nothing : below,
      largeValues: try wholly { () throws(StoreError) in try unsafe largeValues.pages() })
  }

  /// Puts what is in a tree's buffer where it can be read.
  private func emptyBuffer(of tree: TreeSlot) throws(StoreError) {
    try checkUsable()
    guard unsafe bufferSize > 0, let buffer = unsafe buffers[tree], !buffer.isEmpty else { return }
    if buffer.hasLargePuts || buffer.byteCount > smallSize { return try spill() }
    unsafe buffers[tree] = nil
    unsafe foundBuffers.removeAll(keepingCapacity: true)
    unsafe bufferSize -= buffer.byteCount
    let editor = changing()
    buffer.repeatPuts { key, value, schemaVersion in
      unsafe order.note(key, in: tree)
      editor.put(blindly: key, value, schemaVersion: schemaVersion, in: tree)
    }
  }
}

// MARK: - Savepoints

extension Spill {
  /// A moment to go back to.
  final class Savepoint {
    fileprivate var runs: Runs
    fileprivate private(set) var editor: OverlayEditor?
    fileprivate private(set) var overlay: Overlay?
    fileprivate let moment: OverlayEditor.Savepoint?

    fileprivate init(_ runs: Runs, _ editor: OverlayEditor?) {
      self.runs = runs
      self.editor = editor
      moment = editor?.savepoint()
      overlay = editor?.present
    }

    fileprivate func forgetOverlay() {
      editor = nil
      overlay = nil
    }
  }

  /// - Throws: `.full`, `.io`, from then on always.
  func savepoint() throws(StoreError) -> Savepoint {
    try checkUsable()
    for tree in unsafe buffers.keys.sortedRarely() { try emptyBuffer(of: tree) }
    // A savepoint keeps in memory what is there now.
    if unsafe editor.map({ $0.present.byteCount > smallSize }) ?? false { try spill() }
    let savepoint = unsafe Savepoint(runs, editor)
    unsafe savepoints.append(savepoint)
    return savepoint
  }

  /// Undoes everything since `savepoint`, failures too.
  func rollBack(to savepoint: Savepoint) {
    if let index = unsafe savepoints.lastIndex(where: { $0 === savepoint }) {
      unsafe savepoints.removeLast(savepoints.count - index - 1)
    }
    unsafe failure = nil
    dropBuffers()
    unsafe order.removeAll()
    unsafe runs = savepoint.runs
    unsafe editor = savepoint.editor
    if let moment = savepoint.moment { savepoint.editor?.rollBack(to: moment) }
  }

  /// Says that nobody goes back to `savepoint` any more, nor to later ones.
  func release(_ savepoint: Savepoint) {
    guard let index = unsafe savepoints.lastIndex(where: { $0 === savepoint }) else { return }
    unsafe savepoints.removeLast(savepoints.count - index)
    if let moment = savepoint.moment, let editor = unsafe editor, savepoint.editor === editor {
      editor.release(moment)
    }
  }
}

// MARK: - Committing

extension Spill {
  /// The trees that were changed.
  var slots: Set<TreeSlot> {
    var slots = unsafe Set(runs.keys).union(buffers.keys)
    if let editor = unsafe editor { slots.formUnion(editor.present.trees) }
    return slots
  }

  /// About the bytes of all that was done to a tree.
  func byteCount(of tree: TreeSlot) -> Int {
    let runs = unsafe self.runs[tree] ?? TreeRuns()
    let trees = runs.runs.map(\.tree) + runs.loaded.trees.map(\.tree)
    let buffered = unsafe buffers[tree]?.byteCount ?? 0
    let changed = unsafe editor?.present.byteCount(of: tree) ?? 0
    let large = unsafe largeValues.byteCounts[tree] ?? 0
    return trees.reduce(buffered + changed + large) { $0 + $1.liveBytes }
  }

  /// All that was done to a tree, newest first. What was in a buffer is only there, then.
  ///
  /// - Returns: also the trees that were loaded, and whether all hide what lies below.
  func takeLayers(
    _ tree: TreeSlot
  ) -> (layers: [SpillLayer], loaded: LoadedTrees, hidesOlder: Bool) {
    var layers: [SpillLayer] = []
    if let buffer = unsafe buffers.removeValue(forKey: tree), !buffer.isEmpty {
      layers.append(.buffer(BufferInput(buffer.takeSorted())))
    }
    unsafe foundBuffers.removeAll(keepingCapacity: true)
    if let changes = unsafe editor?.present[tree], !changes.isEmpty {
      layers.append(.overlay(changes))
      if changes.hidesBase { return (layers, LoadedTrees(), true) }
    }
    let runs = unsafe self.runs[tree] ?? TreeRuns()
    layers += runs.runs.reversed().map { .run($0) }
    return (layers, runs.loaded, runs.hidesOlder)
  }

  /// The puts into a tree, if nothing else was done to it, and no value is in pages of its own; nil otherwise. They are
  /// only there, then.
  func takeOnlyPuts(_ tree: TreeSlot) -> SortedPuts? {
    guard let buffer = unsafe buffers[tree], !buffer.isEmpty, !buffer.hasLargePuts,
      unsafe runs[tree] == nil, unsafe editor?.present[tree].isEmpty ?? true
    else { return nil }
    unsafe buffers[tree] = nil
    unsafe foundBuffers.removeAll(keepingCapacity: true)
    return buffer.takeSorted()
  }

  /// Hands the segments of loaded trees to the appender of the commit, before it appends anything.
  ///
  /// - Throws: `.limitExceeded`, `.full`, `.io`.
  func giveLoads(to appender: PageAppender) throws(StoreError) {
    try loads.give(unsafe runs.values.flatMap(\.loaded.trees), to: appender)
  }

  /// Where values of large puts are read.
  func largeValuePages() throws(StoreError) -> PageReader? {
    try unsafe largeValues.pages()
  }
}
