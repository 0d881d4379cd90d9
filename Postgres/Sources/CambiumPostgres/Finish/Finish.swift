package import Cambium

/// Makes the database the place of the records: fences the store, applies the rest, compares everything, and adds the foreign keys.
package struct Finish {
  let path: String
  let options: StoreOptions
  let address: String
  /// For how long it follows a store that is still written, until its program ends or fences it.
  package var wait: Duration = .seconds(60)
  package var patience: Duration = .seconds(60)
  package var progress: (FinishProgress) -> Void = { _ in }

  /// - Parameter options: Those to open the store with; their `access` does not matter.
  package init(_ path: String, options: StoreOptions = StoreOptions(), to address: String) {
    self.path = path
    var options = options
    options.access = .reading
    self.options = options
    self.address = address
  }

  /// Finishes the move, from the step at which an earlier run ended.
  ///
  /// - Returns: The comparison, after which programs may use the database; nil if it was finished before.
  /// - Throws: `MoveError.different` if the database differs from the store, which is fenced then, and others; `PostgresError`;
  ///   errors of the store.
  package func run() throws -> Verification? {
    let store = try PersistentStore(untypedAt: path, options: options)
    let identity = try PersistentStore.inspect(at: path, lastCommits: 0, options: options).identity
    let connection = try Connection(address)
    let found = try MoveState(from: connection, of: identity, store.schema)
    let plan = PostgresPlan(store.schema, options: found.options)
    if found.stage == .finished {
      try validate(plan)
      return nil
    }
    var follow = Follow(store, identity: identity, to: address)
    follow.patience = patience
    try follow.catchUp()
    try fence(store, follow, place: connection.place)
    progress(.fenced)
    let last = try follow.catchUp()
    progress(.applied(last))
    let verification = try Verification(
      of: try store.snapshot(), identity: identity, in: address)
    guard verification.isSame else { throw MoveError.different(verification) }
    if let division = plan.options.division {
      try PartServers(division, of: identity).addForeignKeys(of: plan)
    }
    try end(plan, verification.sequence)
    progress(.ended)
    try validate(plan)
    return verification
  }

  /// Fences the store, or waits until its program has.
  private func fence(_ store: PersistentStore, _ follow: Follow, place: String) throws {
    let clock = ContinuousClock()
    let start = clock.now
    var hasSaid = false
    while true {
      try store.refresh()
      if let other = try store.snapshot().movedTo {
        if other == place { return }
        throw MoveError.fencedElsewhere(other)
      }
      do {
        try PersistentStore.fence(at: path, movedTo: place, options: options)
      } catch StoreError.locked(_, let process) {
        // The mark of a program may be on the disk, and not be shown to other readers yet.
        guard clock.now - start < max(wait, Follow.settling) else {
          throw MoveError.stillWritten(process: process, place: place)
        }
        if !hasSaid { progress(.waiting(process: process)) }
        hasSaid = true
        try follow.catchUp()
        follow.pause.sleep()
      }
    }
  }

  /// Adds the foreign keys, without checking rows that were compared already, and says that it is finished.
  private func end(_ plan: PostgresPlan, _ sequence: UInt64) throws {
    try MoveSession(address: address, patience: patience).run { connection, _ in
      try connection.run("BEGIN")
      let before = try connection.run(
        "SELECT stage FROM \(PostgresPlan.stateSchema).store FOR UPDATE"
      ).first?.first
      let changed = try connection.change(
        "UPDATE \(PostgresPlan.stateSchema).store SET stage = 'finished', changed_at = now()"
          + " WHERE sequence = \(sequence) AND stage IN ('moved', 'following')")
      if changed == 1 {
        let keys = before == MoveStage.following.rawValue ? plan.foreignKeyStatements : []
        for key in keys { try connection.run(key + " NOT VALID") }
        for statement in plan.sequenceStatements { try connection.run(statement) }
      } else if before != MoveStage.finished.rawValue {
        throw PostgresError.overtaken("Another connection has changed the state of the move.")
      }
      try connection.run("COMMIT")
    }
  }

  /// Has the server check the foreign keys, while programs use the tables.
  private func validate(_ plan: PostgresPlan) throws {
    try MoveSession(address: address, patience: patience).run { connection, _ in
      for key in plan.foreignKeyNames {
        try connection.run("ALTER TABLE \(key.table) VALIDATE CONSTRAINT \(key.name)")
      }
      for table in plan.tables { try connection.run("ANALYZE \(plan.qualified(table.name))") }
    }
  }
}

package enum FinishProgress: Sendable {
  /// A process still has the store open for writing.
  case waiting(process: Int32?)
  /// Nothing writes the store any more.
  case fenced
  /// The database has all commits.
  case applied(FollowProgress)
  /// Programs may use the database.
  case ended
}
