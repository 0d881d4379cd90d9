/// The place in the engine from which a call to the file system is made.
///
/// Simulations name calls by it ("fail the second write at `pageWrite`"); the POSIX file system
/// ignores it.
package enum Site: UInt8, Sendable, CaseIterable {
  case segmentCreate
  case segmentHeaderWrite
  case segmentHeaderSync
  case segmentRename
  case segmentDirectorySync
  case segmentOpen
  case segmentHeaderRead
  case segmentMap
  case segmentUnlink
  /// Bytes after the published end of a segment are cut off.
  case segmentCutTruncate
  case pageWrite
  case pageRead
  case pageSync
  case pageAdvise
  case logCreate
  case logUnlink
  case logRename
  case logDirectorySync
  case logOpen
  case logRead
  case logHeaderWrite
  case logHeaderSync
  /// The sync of the header's second copy, when the first is on the disk.
  case logHeaderCopySync
  case logMendWrite
  case logMendSync
  case logOpeningWrite
  case logOpeningSync
  case logFrameWrite
  case logFrameSync
  case logGrowWrite
  /// The sync of zeros written ahead. For speed only: later syncs do without its work.
  case logGrowSync
  case logCutTruncate
  case reserveOpen
  case reserveWrite
  case reserveTruncate
  case reserveUnlink
  case lockOpen
  case lockTake
  case lockDirectory
  case lockCompare
  case lockRead
  case lockWrite
  /// The look whether a name still leads to the open file.
  case fileCompare
  case directoryList
  case orphanUnlink
  case orphanDirectorySync
  /// A file for runs of a transaction, which loses its name as soon as it has one.
  case runCreate
  case runUnlink
  case blobSegmentCreate
  case blobHeaderWrite
  case blobHeaderSync
  case blobSegmentRename
  case blobDirectorySync
  case blobSegmentOpen
  case blobHeaderRead
  case blobWrite
  case blobRead
  case blobSync
  /// Bytes of an abandoned stream are released.
  case blobTruncate
  case blobUnlink
  case blobAdvise
  /// Calls that a test makes itself.
  case test
}
