import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Writes the fixture's files to the directory that `CAMBIUM_WRITE_FIXTURE` names, and prints what
/// opens them: for a version of the format that is not released yet.
@Test(.enabled(if: FixtureWriting.path != nil))
func `the fixture is written where the environment says`() throws {
  let path = try #require(FixtureWriting.path)
  let references = try FormatFixture.write(to: PosixFileSystem(at: path, creating: true))
  for reference in [references.old, references.new] {
    var bytes: Bytes = []
    reference.encode(to: &bytes)
    print(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " "))
  }
}

private enum FixtureWriting {
  static let path = unsafe getenv("CAMBIUM_WRITE_FIXTURE").map { unsafe String(cString: $0) }
}
