/// A numbered rule of `FORMAT.md` that every byte of a store obeys.
///
/// The numbers never change meaning: errors, tests and the document cite them.
@nonexhaustive public enum Invariant: String, Hashable, Sendable, CaseIterable {
  /// A page segment begins with a whole, checked header that names this store and this segment.
  case segmentHeader = "S1"
  /// A page segment is as long as the footer's segment table says, or longer.
  case segmentEnd = "S2"

  /// A page lies within the published end of a segment that the segment table names; a footer,
  /// within its file.
  case pageExists = "P1"
  /// The page's bytes hash to the checksum that it and the reference to it carry.
  case pageChecksum = "P2"
  /// The page is of the kind, size and level that its parent expects.
  case pageKind = "P3"
  /// A child lies before its parent in append order.
  case childBeforeParent = "P4"
  /// A page has one parent in its tree.
  case oneParent = "P5"
  /// A reference is 1 to 64 blocks long, and its aggregates are within the bounds of a store.
  case referenceBounds = "P6"

  /// The parts of a node lie within it, in order, and fill it but for the last block's rest.
  case nodeLayout = "N1"
  /// The keys of a node ascend strictly.
  case keyOrder = "N2"
  /// Keys are at most 1 KiB long.
  case keyLength = "N3"
  /// Every key below a branch's child lies between the separators beside it.
  case separators = "N4"
  /// The aggregates of a reference are those of the subtree below it.
  case aggregates = "N5"
  /// No node is under a third full, unless it is its tree's only one on its level, or, being a leaf,
  /// stands beside leaves of another schema version only.
  case fill = "N6"
  /// The parts of a level have no key in common; the keys that it adds are not in the tree below, and those that it replaces or
  /// removes are; its filter knows them all.
  case levelKeys = "N7"

  /// The pages of a large value hold exactly the length its first page says.
  case valueLength = "V1"

  /// The footer is the one its reference means, and its sections are whole, known or skippable, and
  /// within their limits.
  case footerSections = "F1"
  /// The footer says of each page segment how many of its bytes the state's trees reach, a page that several share
  /// once.
  case liveBytes = "F2"
  /// The footer of a state that is kept lies within the published blocks.
  case keptStates = "F3"

  /// Each file of the log has two copies of its header, of which at least one is whole and names this
  /// store and a use; whole copies of one use are the same.
  case logHeader = "L1"
  /// The files of the log hold its last use, the one before it, and those that it says it needs; of two, the later has no
  /// lower epoch.
  case logUses = "L2"
  /// The file of a use of the log that is needed is as long as its header says, or longer.
  case logEnd = "L3"
  /// The opening of the use is whole overlay frames that fill it, and stand for all sequences from the
  /// footer's to where the use's own begin.
  case logOpening = "L4"
  /// A frame that a later one says was flushed is whole.
  case logFlushed = "L5"
  /// A whole frame that follows the one before it says what can be: the next sequences, no flush beyond
  /// itself, no earlier time, a footer not older than the newest.
  case logFrame = "L6"
  /// The operations of a whole frame are known, within it and within their limits, and each is of a
  /// tree.
  case logOperations = "L7"
  /// No footer in the page segments was written in a later use of the log, and the newest one has no
  /// higher epoch than the log.
  case logAge = "L8"
  /// A use of the log that a later one needs is whole up to the frame that the header of the use after it names, and that
  /// header begins with its last sequence.
  case logChain = "L9"

  /// The bytes of a schema are whole elements, known or skippable, and within their limits.
  case schemaLayout = "D1"
  /// A schema is possible: names and numbers occur once, and each reference to one finds
  /// it; its version, next number and next fields are within their limits.
  case schemaContents = "D2"

  /// The key of a record or of an index entry is whole parts of the described types.
  case keyParts = "K1"
  /// The value of an index entry is its record's primary key where the key does not end with it, and
  /// else empty.
  case keyValue = "K2"
  /// Every index entry is that of a record, and every record has its entries.
  case indexEntries = "K3"
  /// Every checked reference leads to a record, of the kind that it leads to, or to one that is known to be lost.
  case references = "K4"
  /// Every derived field has the value that is computed from the present records.
  case derivations = "K5"
  /// The last number of a sequence is a `u64` under the numbers of a record and a field.
  case sequences = "K6"

  /// A row begins with known flags, and its parts lie within it and fill it.
  case rowLayout = "R1"
  /// The ends of a row's variable columns ascend, and the last is where the row ends.
  case rowEnds = "R2"
  /// A null column of a row has no bytes but zeros, and nothing is null that is not optional.
  case rowNulls = "R3"
  /// The bytes of a row for a column are a value of its type.
  case rowValues = "R4"
  /// A value of an external column is bytes, a frame with its checksum, or a whole reference to a blob that the map has.
  case rowExternal = "R5"
  /// A row is of at most one kind of those with the same parent, and of one if the parent is abstract.
  case rowKinds = "R6"
  /// A row is of a version that the store has a schema of.
  case rowVersion = "R7"

  /// The entries of a history are whole parts of commits after the one that it begins with, each numbered
  /// from 0 without a gap.
  case history = "H1"

  /// The map of blobs has, under an identity, a place within a segment and how many references rows have to it; the
  /// place leads back to it.
  case blobMap = "X1"
  /// Of each segment the accounts say how many bytes of blobs the map has in it.
  case blobAccounts = "X2"
  /// The end that the account of a segment says is not before that of a blob of the map there, nor after that of the
  /// file.
  case blobEnds = "X3"

  /// The pending work of a migration is steps between versions that the store has, and indexes of the last.
  case pendingSteps = "M1"
  /// A name of metadata is UTF-8, and its value JSON.
  case metadata = "M2"
  /// The mark of an interrupted migration is whole, and names trees that migrations make.
  case migrationMark = "M3"

  /// A blob segment begins with a whole, checked header that names this segment and the seed of the store's
  /// blobs.
  case blobSegmentHeader = "B1"
  /// A blob lies after the header of its segment and within its file, and is no shorter than its tail.
  case blobExists = "B2"
  /// The tail of a blob hashes to the checksum that the reference to it carries, and describes frames that fill
  /// what is before it and hold the blob's length.
  case blobTail = "B3"
  /// The bytes of a frame hash to the checksum that the tail has for them.
  case blobFrameChecksum = "B4"
  /// A frame is one of zstd, of a single segment and without a dictionary, no larger than its content can
  /// become, and holds as much content as its place gives it.
  case blobFrame = "B5"
  /// The pending work of a compaction is a scope, segments that ascend, and a place in a tree.
  case compactionCursor = "C1"
  /// The pages that a slice of a compaction wrote hold the entries of those that it replaced, as many and the
  /// same.
  case compactedEntries = "C2"
}

extension Invariant {
  /// True if it is about numbers that only steer work: how full nodes are, how much of a file is garbage, where
  /// interrupted work stopped. A store that breaks it can be read and written like any other. A check reports it, and
  /// opening the store for writing, or the work itself, puts it right.
  public var isForPlanning: Bool {
    switch self {
    case .fill, .liveBytes, .migrationMark, .compactionCursor: true
    default: false
    }
  }
}

extension Invariant: CustomStringConvertible {
  public var description: String { "invariant \(rawValue)" }
}
