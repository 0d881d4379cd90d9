/// The copy of one state into an empty directory: blobs first, since a directory with a log is a store.
struct StoreBackup {
  private let state: SnapshotTrees
  private let names: TreeNames
  private let monitor: BackupMonitor

  init(of state: SnapshotTrees, _ names: TreeNames, _ monitor: BackupMonitor) {
    self.state = state
    self.names = names
    self.monitor = monitor
  }

  /// - Throws: as `Backup.run`.
  func run(into target: any FileSystem) throws(StoreError) -> BackupContents {
    let blobBytes = try copyBlobs(to: target)
    var contents = try state.backUp(to: target, names, monitor)
    contents.blobBytes = blobBytes
    return contents
  }

  /// The segments that the state has blobs in, as they are, garbage included: what lies in them is compressed already, and
  /// every place in the map holds in the copy.
  private func copyBlobs(to target: any FileSystem) throws(StoreError) -> Int {
    guard let blobs = state.blobs else { return 0 }
    let accounts = try BlobTrees(names).accounts(in: .state(state))
    monitor.beginBlobs(accounts.reduce(0) { $0 &+ Int(clamping: $1.account.end) })
    for (segment, account) in accounts {
      try blobs.copy(segment, through: account.end, to: target, monitor)
    }
    return monitor.progress.blobBytes
  }
}
