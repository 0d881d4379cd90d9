/// The work of a migration's tasks, as far as it is known before they run.
struct WorkMeasure {
  private(set) var work: [MigrationPlan.Work] = []
  /// The number of records that each task reads.
  private(set) var counts: [Int] = []
  private(set) var records = 0
  private(set) var bytesRead = 0
  private(set) var bytesWritten = 0
  /// Bytes of entries that pass through the log. Rows that are converted in their places do not.
  private(set) var bytesLogged = 0

  /// The most bytes that the log adds to the key and value of an entry.
  private static var entryOverhead: Int { 32 }
  /// The pages that each commit writes beside entries: branches, the catalog, a footer.
  static var bytesPerCommit: Int { 64 << 10 }

  /// About how many commits there are, the switch among them.
  func commits(of sliceCount: Int) -> Int { work.count + records / max(1, sliceCount) + 3 }

  init(_ tasks: MigrationTasks, in backend: any StoreBackend) throws(StoreError) {
    let trees = try backend.trees()
    // What is not made yet is about as large as what it is made of.
    var made: [String: String] = [:]
    for task in tasks.tasks {
      if case .arrange(let arrangement) = task {
        for (source, target) in arrangement.copies { made[target] = made[source] ?? source }
        counts.append(0)
        continue
      }
      if case .remake(let remake) = task, let source = task.readTree {
        for (number, tree) in remake.to.places.rows
        where remake.from.places.rows[number] != tree && made[tree] == nil {
          made[tree] = made[source] ?? source
        }
      }
      var count: Int?
      if let tree = task.readTree {
        let slot = try backend.names.slot(of: made[tree] ?? tree)
        let bytes = Int(clamping: trees.liveBytes(in: slot))
        let found = try trees.count(in: slot)
        count = found
        records += found
        bytesRead += bytes
        // An index is a part of its rows; a third, say.
        let made = if case .build = task { bytes / 3 } else { bytes }
        bytesWritten += made
        if case .convert = task {} else { bytesLogged += made + found * Self.entryOverhead }
      }
      counts.append(count ?? 0)
      work.append(MigrationPlan.Work(kind: task.kind, task: task.text, records: count))
    }
  }
}
