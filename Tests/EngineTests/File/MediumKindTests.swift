import TestSupport
import Testing

@testable import Cambium

struct MediumKindTests {
  @Test(
    arguments: [
      (0x6969, "nfs"), (0x517b, "smb"), (0xff53_4d42, "cifs"), (0xfe53_4d42, "smb2"),
      (0x0102_1997, "9p"), (0x00c3_6400, "ceph"), (0x0bd0_0bd0, "lustre"), (0x5346_414f, "afs"),
      (0x6573_5546, "fuse"),
    ] as [(UInt32, String)])
  func `what another machine may have is no place for a store`(magic: UInt32, name: String) {
    #expect(MediumKind(magic: magic) == .network(name))
  }

  /// ext4, xfs, btrfs, zfs, f2fs, bcachefs, tmpfs, ramfs, overlayfs, and one that is not known.
  @Test(
    arguments: [
      0xef53, 0x5846_5342, 0x9123_683e, 0x2fc1_2fc1, 0xf2f5_2010, 0xca45_1a4e, 0x0102_1994,
      0x8584_58f6, 0x794c_7630, 0x1234_5678,
    ] as [UInt32])
  func `what this machine has is`(magic: UInt32) {
    #expect(MediumKind(magic: magic) == .local)
  }

  @Test func `the error says what to do`() {
    let error = StoreError.networkFileSystem(path: "/mnt/share/s.cambium", kind: "nfs")
    #expect("\(error)".hasPrefix("/mnt/share/s.cambium is on a network file system (nfs)"))
    #expect("\(error)".contains("local disk"))
  }

  @Test func `a directory of this machine is taken, with permission and without`() throws {
    let directory = try TemporaryDirectory()
    for isAllowed in [true, false] {
      _ = try PosixFileSystem(at: directory.path, allowingNetwork: isAllowed)
      _ = try PosixFileSystem(
        at: directory.path + "/made", creating: true, allowingNetwork: isAllowed)
    }
  }
}
