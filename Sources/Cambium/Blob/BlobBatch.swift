/// The blobs of one transaction. They are written one after the other, and synced together before a commit refers to any
/// of them.
///
/// Only blobs of one batch share blocks. A block with the end of any other blob may be on the disk already, and needed by
/// a commit, so it is never written again: if the power failed during the write, the block could be lost.
final class BlobBatch: Sendable {}
