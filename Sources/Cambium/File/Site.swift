/// The place in the engine from which a call to the file system is made.
///
/// Simulations name calls by it ("fail the second write at `pageWrite`"); the POSIX file system
/// ignores it.
package enum Site: UInt8, Hashable, Sendable, CaseIterable {
  case segmentCreate
  case segmentHeaderWrite
  case segmentHeaderSync
  case segmentRename
  case segmentDirectorySync
  case segmentOpen
  case segmentHeaderRead
  case segmentMap
  case segmentUnlink
  case pageWrite
  case pageRead
  case pageSync
  case pageAdvise
  case lockOpen
  case lockTake
  case lockDirectory
  case lockCompare
  case lockRead
  case lockWrite
  case directoryList
  /// Calls that a test makes itself.
  case test
}
