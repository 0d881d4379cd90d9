/// An error of a store.
///
/// A case states what happened and where; its `description` adds what to do now. New versions may add cases, so a
/// `switch` over it needs an `@unknown default`.
///
/// An error is a reference to its values: code that only passes it on moves one word.
@nonexhaustive public indirect enum StoreError: Error, Hashable, Sendable {
  /// Bytes in a file are not those that were written there.
  ///
  /// `invariant` is the numbered rule of `FORMAT.md` that they break. Nothing was changed; undamaged parts of the store
  /// stay readable.
  case corrupt(CorruptPlace, invariant: Invariant, reason: String)
  /// Bytes that were about to be written could not be read again, so they were not written: a fault of the program or of
  /// the machine it runs on.
  ///
  /// Before a file, a page or a state becomes part of a store, the code that opens stores reads it. `invariant` is the
  /// numbered rule of `FORMAT.md` that it would break. The operation failed, and the store is as it was before it.
  case unsound(CorruptPlace, invariant: Invariant, reason: String)
  /// The file was written by a newer version of the library, with features that this one does not know.
  case newerFormat(path: String, reason: String)
  /// The operating system refused an operation.
  case io(SystemErrorCode, operation: String, path: String)
  /// The disk has no space for the write. Nothing that was stored before is changed.
  case full(path: String)
  /// Another process, or another part of this one, has the store open for writing.
  case locked(path: String, holder: Int32?)
  /// The directory is on a file system that other machines may use, or that is not known to be local; `kind` names it.
  case networkFileSystem(path: String, kind: String)
  /// A file or directory of the store does not exist.
  case missing(path: String)
  /// The path is within the directory of a store, which holds nothing but that store's files. Nothing was written.
  case insideStore(path: String)
  /// A file was deleted or replaced while the store was open: `path` leads to it no longer. Commits since then
  /// cannot be found by the next open.
  case filesGone(path: String)
  /// A key, value or other part is larger than this version of the format can hold.
  case limitExceeded(Limit, found: Int)
  /// An earlier write failed, so nothing more can be written until the store is opened again. This write is not
  /// committed.
  case poisoned(path: String, reason: String = "an earlier write failed")
  /// A commit failed on its way to the disk: it is committed wholly or not at all. The next open finds out, and the
  /// result is final.
  case outcomeUnknown(path: String, reason: String)
  /// A write transaction was begun inside another, on the same thread.
  case reentrant(path: String)
  /// The store was closed.
  case closed(path: String)
  /// The process is a forked child of the one that opened the store.
  case forked(path: String)
  /// A description of a record is not valid, by itself or for its Swift type, in this version.
  case invalidDescription(record: String, field: String?, version: Int, reason: String)
  /// The program describes this version differently than the store. The store's description is the older one.
  case schemaMismatch(version: Int, differences: [SchemaDifference])
  /// The store has an older version than the model, and migration was refused.
  case needsMigration(found: Int, wanted: Int)
  /// There is no migration path to the model's version; nothing was changed.
  case cannotMigrate(from: Int, to: Int, reasons: [String])
  /// A step of a migration failed: a closure threw, or a value was refused. Nothing was changed.
  case stepFailed(version: Int, source: String, reason: String)
  /// A migration was cancelled. Its finished part is kept, and the next run resumes there.
  case migrationCancelled(from: Int, to: Int)
  /// The store has a newer version than the program knows.
  case newerSchema(found: Int, supported: Int)
  /// The store was migrated to this or a later version before, and rolled back: it is not migrated again unless
  /// `StoreOptions.allowsMigrationAfterRollback` is set.
  case rolledBack(from: Int, to: Int)
  /// The state of this version, to which the store was to be rolled back, is not kept; those of `kept` are.
  case notKept(version: Int, kept: [Int])
  /// A damaged store has nothing that could be salvaged, or nothing that describes its records. Nothing was written.
  case nothingToSalvage(path: String, reason: String)
  /// Rolling back would discard commits made since the migration.
  case wouldDiscard(commits: Int)
  /// The model has no such record type, or not in this version.
  case unknownRecord(name: String)
  /// A value cannot be stored: it is out of range, not valid, too long, or cannot be in a key.
  case invalidValue(record: String, field: String?, reason: String)
  /// A query, a condition or a key to look for does not fit the record: there is no such field, it has another type, or
  /// its values have no order or no sum.
  case invalidQuery(record: String, field: String?, reason: String)
  /// A stored record is undamaged, but cannot be read as the Swift type: for example, an enum has no such case, or a codec
  /// cannot decode a value.
  case unreadableRecord(record: String, key: String, field: String?, reason: String)
  /// A record with this primary key exists already.
  case duplicateKey(record: String, key: String)
  /// Another record has the same values in unique fields.
  case uniqueConflict(record: String, constraint: String, key: String)
  /// A reference of a record leads nowhere. `destination` is the record that is not there, with its key; the transaction
  /// is not committed.
  case danglingReference(record: String, key: String, field: String, destination: String)
  /// A record is not deleted, since others depend on it when the transaction commits: `count` of them by the reference `by`.
  /// The transaction is not committed.
  case deleteDenied(record: String, key: String, by: String, count: Int)
  /// A relation of a record has so many records, which is not within its bounds.
  case relationCount(record: String, key: String, relation: String, count: Int)
  /// There is no record with this primary key.
  case noSuchRecord(record: String, key: String)
  /// The record was changed since the copy was read that is saved over it.
  case staleRecord(record: String, key: String)
  /// The history after a commit is not kept, or the store has no such commit; it is kept after another commit.
  case historyExpired(since: UInt64, kept: UInt64)
  /// The store was opened for reading.
  case readOnly(path: String)
  /// The store is fenced: its records were moved to `to`, so it is only read. This write is not committed.
  case moved(path: String, to: String)
  /// A query would need more memory to sort its records than it may use.
  case sortTooLarge(record: String, size: Int)
  /// A query needs more than its budget allows, or its task was cancelled. `rows` is the number of rows and index entries that it
  /// has read, and `duration` the time it took. If the query was to change records, none has changed.
  case queryBudgetExceeded(rows: Int, duration: Duration)
  /// An index or an order of a record needs a collation that the program has not given. Nothing was changed.
  case missingCollation(record: String, name: String, version: String)
  /// The earlier values of records were requested, but not kept: of a transaction, or by the history.
  case changesNotKept(record: String)
}

extension StoreError {
  /// The place of a fault.
  @nonexhaustive public enum CorruptPlace: Hashable, Sendable {
    /// A page, by its position.
    case page(PagePosition)
    /// A whole page segment, by its number.
    case segment(UInt32)
    /// A file of the log, by its number, and the block there.
    case log(file: UInt32, block: UInt32)
    /// An entry of a tree, by the tree's name and its key or the beginning of it.
    case entry(tree: String, key: [UInt8])
    /// A whole segment of blobs, by its number.
    case blobSegment(UInt32)
    /// A blob or a frame of it, by its segment and offset in that file.
    case blob(segment: UInt32, offset: UInt64)
  }

  /// A limit of the format, or of a transaction. Its value is `bound`.
  @nonexhaustive public enum Limit: Hashable, Sendable, CaseIterable {
    /// The length of an encoded key.
    case keyLength
    /// The length of a value that is not a blob.
    case valueLength
    /// The length of a name or label in UTF-8: of a tree, a schema version, a kept state, a record, a field.
    case nameLength
    /// The size of a footer: the trees and segments of one state of the store.
    case footerSize
    /// The length of the place at which long work resumes.
    case cursorLength
    /// The number of segments ever made.
    case segmentNumber
    /// The size of a file of the log: of all changes that are in no tree yet, or of the commits that come at once.
    case logSize
    /// The length of a blob's content.
    case blobLength
    /// The number of hooks of records that run within one another.
    case hookDepth
    /// The number of records that one deletion deletes with others, or cuts references of, if it may be denied.
    case deletionCount
  }

  /// Makes the error for a failed call: `.full` if the disk is full, `.missing` if there is no
  /// such file, otherwise `.io`.
  package static func failed(_ operation: String, _ errno: SystemErrorCode, path: String)
    -> StoreError
  {
    if errno.isFull { return .full(path: path) }
    if errno == .noSuchFile { return .missing(path: path) }
    return .io(errno, operation: operation, path: path)
  }

  /// True if a write or a flush failed, so that nothing is known of what the disk holds there. Other calls
  /// that fail have changed nothing: they may be made again.
  var isOfWriting: Bool {
    guard case .io(_, let operation, _) = self else { return false }
    return ["write", "sync", "sync directory", "truncate"].contains(operation)
  }

  /// True if the system had too little of something that it may have again: space, descriptors, memory.
  var isShortage: Bool {
    switch self {
    case .full: true
    case .io(let errno, _, _): !isOfWriting && (errno.isOfDescriptors || errno == .outOfMemory)
    default: false
    }
  }
}

extension StoreError.Limit {
  /// The largest value allowed: bytes of a length or size, or a number.
  public var bound: Int {
    switch self {
    case .keyLength: 1024
    case .valueLength: 16 << 20
    case .nameLength: 255
    case .footerSize: 64 * 4096
    case .cursorLength: Int(UInt16.max)
    case .segmentNumber: Int(UInt32.max)
    case .logSize: 256 << 20
    case .blobLength: 64 << 30
    case .hookDepth: 100
    case .deletionCount: 8_000_000
    }
  }
}

extension StoreError {
  /// The path in the error of a blob whose content was deleted.
  static let deletedBlob = "a blob that was deleted"
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .corrupt(let place, .logAge, let reason):
      "\(place) is of an older copy of the store than its pages (\(Invariant.logAge)): \(reason). Restore all files"
        + " from one copy, into an empty directory; nothing was changed."
    case .corrupt(let place, let invariant, let reason) where invariant.isForPlanning:
      "\(place) is not as it should be (\(invariant)): \(reason). Only the planning of work depends on it: to correct"
        + " it, open the store for writing, or compact it."
    case .corrupt(let place, let invariant, let reason):
      "\(place) is damaged (\(invariant)): \(reason). Restore the store from a backup, or copy its readable part with"
        + " `cambium backup --skip-damaged`, or with `cambium salvage` if it cannot be opened."
    case .unsound(let place, let invariant, let reason):
      "A block to be written could not be read: \(place) would be damaged (\(invariant)): \(reason). It was not"
        + " written, and the store is as it was. Check the memory of this machine, and report it as a fault of Cambium."
    case .newerFormat(let path, let reason):
      "\(path) was written by a newer version: \(reason). Use that version; nothing was changed."
    case .io(.tooManyLinks, "open as the only link", let path):
      "\(path) has a second name, a hard link, as `cp -al` and backups by links make. A write would change both stores, so"
        + " neither is opened. Nothing is damaged: delete the other copy, or make a real one of the directory (`cp -r`) and"
        + " move that to its place. Make backups with `cambium backup`."
    case .io(let errno, let operation, let path):
      "\(operation) failed on \(path): \(errno).\(errno.advice(for: operation))"
    case .full(let path):
      "No space left to write \(path). Free some and try again; nothing was lost, and a store that is there can be"
        + " opened for reading meanwhile."
    case .locked(let path, let holder):
      "\(path) is open for writing\(holder.map { " by process \($0)" } ?? "")."
        + " Close it there first, or open it for reading."
    case .networkFileSystem(let path, let kind):
      "\(path) is on a network file system (\(kind)), where locks, maps and flushes cannot be relied on."
        + " Put the store on a local disk, or allow it when opening if you know that they can."
    case .missing(path: Self.deletedBlob):
      "The content of a blob was deleted: neither a record nor an old value that is kept has it any more. Fetch the record"
        + " again."
    case .missing(let path):
      "\(path) does not exist. Check the path, and that the directory it is in exists; if the store was moved, move"
        + " all of its files."
    case .insideStore(let path):
      "\(path) is within the directory of a store, which holds nothing but that store's files. Name a path outside of it;"
        + " nothing was written."
    case .filesGone(let path):
      "\(path) was deleted or replaced while the store was open, so that the next open cannot find its commits. Before"
        + " you close the store, copy it to another path (`backUp(to:)`), and use the copy from then on."
    case .limitExceeded(let limit, let found):
      "\(limit) is \(found), more than the \(limit.bound) allowed. \(limit.advice)"
    case .poisoned(let path, let reason):
      "\(path) refuses writes after an earlier failure: \(reason) Close the store and open it again."
    case .outcomeUnknown(let path, let reason):
      "It is not known whether the last commit to \(path) was made: \(reason) Close the store, open it"
        + " again, and check."
    case .reentrant(let path):
      "A write transaction on \(path) is under way on this thread. Use that one, or a savepoint in it."
    case .closed(let path):
      "\(path) was closed. Open it again."
    case .forked(let path):
      "\(path) was opened by the parent of this process. Open it here, when the parent has closed it."
    case .invalidDescription(let record, let field, let version, let reason):
      "The description of \(record)\(field.map { ".\($0)" } ?? "") in version \(version) is not valid:"
        + " \(reason.withoutStop). Change the description or the type."
    case .schemaMismatch(let version, let differences):
      "Version \(version) is described differently than in the store:"
        + " \(differences.map(\.description).joined(separator: "; "))."
        + " Describe it as the store does, and put what is new into a new version; a record that a newer version no"
        + " longer has stays in the model as a `RemovedRecord`."
    case .needsMigration(let found, let wanted):
      "The store has version \(found), not \(wanted). Migrate it, or open it with a model of version"
        + " \(found)."
    case .cannotMigrate(let from, let to, let reasons):
      "The store cannot go from version \(from) to \(to): \(reasons.map(\.withoutStop).joined(separator: "; ")). Nothing was"
        + " changed."
    case .stepFailed(let version, let source, let reason):
      "The step to version \(version) failed at \(source): \(reason.withoutStop). Nothing was changed. Correct the record"
        + " or the step, and migrate again."
    case .migrationCancelled(let from, let to):
      "The migration from version \(from) to \(to) was cancelled. Run it again to resume it; the store"
        + " keeps version \(from) until it ends."
    case .newerSchema(let found, let supported):
      "The store has version \(found), newer than \(supported). Use the program that wrote it, or roll"
        + " it back; nothing was changed."
    case .rolledBack(let from, let to):
      "The store was rolled back from version \(from) to \(to). Use a program of version \(to), or one newer than"
        + " \(from); or set `allowsMigrationAfterRollback` in the options, to migrate it again."
    case .notKept(let version, let kept):
      "The state of version \(version) is not kept\(kept.isEmpty ? ", nor is any other" : ""). Go back to one"
        + " that is\(kept.isEmpty ? "" : ": \(kept)"), or restore a backup; nothing was changed."
    case .nothingToSalvage(let path, let reason):
      "Nothing of \(path) can be salvaged: \(reason.withoutStop). Nothing was written."
    case .wouldDiscard(let commits):
      "A rollback would discard \(commits) commit\(commits == 1 ? "" : "s") made since the migration. Pass"
        + " `discardingCommits: true` to discard them; nothing was changed."
    case .unknownRecord(let name):
      "The model has no record \(name) in this version. List its type in the model."
    case .invalidValue(let record, let field, let reason):
      "\(record)\(field.map { ".\($0)" } ?? "") is not valid: \(reason.withoutStop). The record was not saved."
    case .invalidQuery(let record, let field, let reason):
      "\(record)\(field.map { ".\($0)" } ?? "") cannot be queried: \(reason.withoutStop). Correct the query."
    case .unreadableRecord(let record, let key, let field, let reason):
      "The \(record) with the key \(key) cannot be read: \(field.map { "\($0): " } ?? "")\(reason.withoutStop). Correct"
        + " the type or the record, or skip it with `fetchReadable` or `forEach(_:skipping:_:)`."
    case .duplicateKey(let record, let key):
      "There is a \(record) with the key \(key) already. Update it, or save to replace it."
    case .uniqueConflict(let record, let constraint, let key):
      "Another \(record) has the same \(constraint): the one with the key \(key). Change the value, or"
        + " that record first."
    case .danglingReference(let record, let key, let field, let destination):
      "\(record).\(field) of the record with the key \(key) leads to \(destination), which is not there. Save that"
        + " record in the same transaction, or change the reference; nothing was committed."
    case .deleteDenied(let record, let key, let by, let count):
      "The \(record) with the key \(key) is not deleted, since \(count) record\(count == 1 ? " depends" : "s depend") on it"
        + " by \(by). Change or delete \(count == 1 ? "that one" : "those") in the same transaction; nothing was committed."
    case .relationCount(let record, let key, let relation, let count):
      "\(record).\(relation) of the record with the key \(key) has \(count) record\(count == 1 ? "" : "s"), which is not"
        + " within its bounds. Add or remove some in the same transaction."
    case .noSuchRecord(let record, let key):
      "There is no \(record) with the key \(key). Check the key; a record that is new is inserted or saved."
    case .staleRecord(let record, let key):
      "The \(record) with the key \(key) was changed since this copy of it was read. Fetch it again, and"
        + " change that."
    case .historyExpired(let since, let kept):
      "The history after commit \(since) is not kept; it begins after commit \(kept). Read the records again, and"
        + " continue from the cursor of that state."
    case .readOnly(let path):
      "\(path) is open for reading only. Open it for writing."
    case .moved(let path, let place):
      "The records of \(path) were moved to \(place), so nothing is written here any more. Write them there; the store can"
        + " be opened for reading. If the move was backed out of, remove the fence with `PersistentStore.liftFence(at:)`."
    case .changesNotKept(let record):
      "The earlier values of \(record) were not kept. Call `keepChanges()` before the first change of a transaction; to"
        + " undo commits, keep a history with old values."
    case .missingCollation(let record, let name, let version):
      "\(record) is sorted by the collation \(name), version \(version), which the program has not provided. Put"
        + " `Collation(\"\(name)\", version: \"\(version)\") { … }` into the options of the store; nothing was changed."
    case .queryBudgetExceeded(let rows, let duration):
      "A query was ended after \(rows) rows and entries, in \(duration): more than its budget allows, or its task was"
        + " cancelled. Narrow it, give it an index, or raise the options' `queryBudget`."
    case .sortTooLarge(let record, let size):
      "To sort the records of \(record) that it finds, a query needs \(size) bytes and more in memory. Give it a limit,"
        + " or the record an index in that order."
    }
  }
}

extension StoreError {
  /// The same fault, of a value that a query gives.
  var ofQuery: StoreError {
    guard case .invalidValue(let record, let field, let reason) = self else { return self }
    return .invalidQuery(record: record, field: field, reason: reason)
  }
}

extension SystemErrorCode {
  /// The sentence that says what to do about a call that failed, with a space before it; empty if there is nothing
  /// to say.
  fileprivate func advice(for operation: String) -> String {
    if isOfDescriptors {
      return " Close files, or allow more (`ulimit -n`), and try again; nothing was lost."
    }
    if self == .outOfMemory, operation == "map" {
      return
        " Open the store with `options.readMode = .buffered`, which needs no address space for its files, or allow"
        + " the process more (`ulimit -v`); nothing was lost."
    }
    return ""
  }
}

extension StoreError.Limit {
  /// The sentence that says what to do now.
  fileprivate var advice: String {
    switch self {
    case .keyLength: "Use a shorter key."
    case .valueLength: "Store large fields outside of the record, with `storage: .external()`."
    case .nameLength: "Choose a shorter name."
    case .footerSize, .cursorLength: "Nothing was changed."
    case .segmentNumber: "Export the store, and import it into a new one."
    case .logSize: "Commit less at once."
    case .blobLength: "Divide it into several blobs."
    case .hookDepth: "Let no hook lead back to the record that it runs for."
    case .deletionCount: "Delete fewer records at once."
    }
  }
}

extension String {
  /// Without a full stop at its end, to be followed by one.
  fileprivate var withoutStop: Substring { hasSuffix(".") ? dropLast() : self[...] }
}

extension StoreError.CorruptPlace: CustomStringConvertible {
  public var description: String {
    switch self {
    case .page(let position): "The page at \(position)"
    case .segment(let number): "Page segment \(number)"
    case .log(let file, let block): "Block \(block) of log-\(file)"
    case .entry(let tree, let key): "The entry \(key.hexadecimal(atMost: 16)) of \(tree)"
    case .blobSegment(let number): "Blob segment \(number)"
    case .blob(let segment, let offset): "The blob at byte \(offset) of blob segment \(segment)"
    }
  }
}

extension [UInt8] {
  /// Two digits a byte, of the first `limit` bytes.
  fileprivate func hexadecimal(atMost limit: Int) -> String {
    let digits = prefix(limit).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return count > limit ? digits + "…" : digits
  }
}
