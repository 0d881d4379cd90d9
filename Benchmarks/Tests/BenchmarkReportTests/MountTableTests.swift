import Testing

@testable import BenchmarkReport

@Suite struct `A table of mounts` {
  private let table = MountTable(
    """
    1 0 8:1 / / rw - ext4 /dev/sda1 rw
    2 1 0:5 / /data rw,noatime shared:1 master:2 - xfs /dev/sdb rw
    3 1 0:6 / /with\\040space rw - btrfs /dev/sdc rw
    4 1 0:7 / /data rw - tmpfs none rw
    5 1 0:8 / /data/deep rw - zfs pool rw
    torn - line
    """)

  @Test(arguments: [
    ("/", "ext4"), ("/home/a", "ext4"), ("/data/deep/a", "zfs"), ("/data/deeper", "tmpfs"),
    ("/data", "tmpfs"), ("/database", "ext4"), ("/with space/a", "btrfs"),
  ])
  func `finds what holds a path`(path: String, type: String) {
    #expect(table.type(holding: path) == type)
  }

  @Test func `of nothing holds nothing`() {
    #expect(MountTable("").type(holding: "/") == nil)
  }
}
