/// The changes of one tree by a spilled transaction and by the overlay below it, each with its effect on level and tree. They can be read several times.
///
/// A transaction that spills looks up no key that it puts, and its runs say only which keys are put and which are removed. Here all keys are looked up
/// once, in their order.
struct SpilledChanges {
  /// Newest first.
  private let layers: [SpillLayer]
  /// Where values are that have pages of their own.
  let largeValues: PageReader?
  /// In the order of the keys; nil for a removal of a key that is nowhere. A byte for each.
  let effects: [EntryEffect?]
  /// By how many they change the count of level and tree together.
  let countChange: Int

  /// The keys that are looked up together.
  private static var batchSize: Int { 256 }

  /// - Parameters:
  ///   - layers: Newest first.
  ///   - tree: With its level.
  /// - Throws: `.corrupt`, `.io`.
  init(
    _ layers: [SpillLayer], over tree: LayeredTree, largeValues: PageReader?
  ) throws(StoreError) {
    var operations = Self.operations(of: layers, largeValues)
    var (keys, removals, batch) = (KeyBatch(), [] as [Bool], LayeredBatch())
    var effects: [EntryEffect?] = []
    while true {
      let isOn = try operations.advanceStored()
      if isOn {
        keys.append(operations.key)
        removals.append(operations.isRemoval)
      }
      if isOn, keys.count < Self.batchSize { continue }
      try tree.base.willNeedLeaves(of: keys)
      try batch.find(keys, in: tree)
      for index in removals.indices {
        effects.append(
          EntryEffect(isRemoval: removals[index], isThere: batch.entry(index) != nil))
      }
      keys.removeAll()
      removals.removeAll(keepingCapacity: true)
      if !isOn { break }
    }
    self.layers = layers
    self.largeValues = largeValues
    self.effects = effects
    countChange = effects.reduce(0) { $0 + ($1?.change ?? 0) }
  }

  /// All operations, from the first one on. Those that were taken before are of no more use.
  func operations() -> RunMerge { Self.operations(of: layers, largeValues) }

  private static func operations(of layers: [SpillLayer], _ largeValues: PageReader?) -> RunMerge {
    RunMerge(newestFirst: layers.map { $0.input() }, largeValues: largeValues)
  }
}

extension EntryEffect {
  /// Nil for a removal of a key that is not there.
  fileprivate init?(isRemoval: Bool, isThere: Bool) {
    if isRemoval, !isThere { return nil }
    self = isRemoval ? .remove : isThere ? .replace : .add
  }
}
