/// Blobs that are written one after the other, and synced together before a commit refers to any of them: one
/// transaction's.
///
/// Only they share blocks. A block that holds the end of any other blob may be on the disk, and needed, and is not
/// written again: if the power failed meanwhile, it could be neither the old one nor the new one.
final class BlobBatch: Sendable {}
