/// The kind of file system that a directory is on, as far as it matters to a store.
///
/// A store needs locks that keep all writers apart, maps that show what was written, and a sync that
/// reaches the disk. File systems of the kernel's own on a local disk keep that; those that reach
/// another machine keep some of it, sometimes, between some of the machines.
enum MediumKind: Equatable, Sendable {
  case local
  /// Reached over a network, or not known to be local. By its common name.
  case network(String)

  /// The magic number of the file system's kind (`statfs`).
  ///
  /// Unknown ones count as local: new local file systems appear more often than new remote ones.
  init(magic: UInt32) {
    self = MediumKind.remote[magic].map { .network($0) } ?? .local
  }

  /// The numbers are those of the kernel's `magic.h`, and of `stat.c` in GNU coreutils for the rest.
  ///
  /// FUSE is here for the file systems that it may hide: `sshfs`, object stores, directories shared by a virtual
  /// machine's host. Which of them the number does not say, and even the local ones keep locks and maps
  /// only if their author saw to it. A program that knows its own allows it when opening. File systems of a
  /// cluster are here too: the locks may hold, but this is untested.
  private static let remote: [UInt32: String] = [
    0x0000_6969: "nfs",
    0x0000_517b: "smb",
    0xff53_4d42: "cifs",
    0xfe53_4d42: "smb2",
    0x0000_564c: "ncp",
    0x0102_1997: "9p",
    0x00c3_6400: "ceph",
    0x0bd0_0bd0: "lustre",
    0x5346_414f: "afs",
    0x6b41_4653: "afs",
    0x7375_7245: "coda",
    0x6573_5546: "fuse",
    0x0116_1970: "gfs2",
    0x7461_636f: "ocfs2",
    0x4750_4653: "gpfs",
    0x1983_0326: "beegfs",
    0xaad7_aaea: "panfs",
    0x6163_6673: "acfs",
    0xbeef_dead: "snfs",
    0x0130_11a8: "ibrix",
    0x786f_4256: "vboxsf",
    0xbacb_acbc: "vmhgfs",
    0x7c7c_6673: "prl_fs",
  ]
}
