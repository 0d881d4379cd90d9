import Cambium
import TestSupport
import Testing

struct FileSystemContractTests {
  @Test func `the operating system's file system keeps the contract`() throws {
    for (name, clause) in FileSystemContract.clauses() {
      let directory = try TemporaryDirectory()
      try holding(name) { try clause(PosixFileSystem(at: directory.path)) }
    }
  }

  @Test func `the file system in memory keeps the contract`() throws {
    for (name, clause) in FileSystemContract.clauses() {
      try holding(name) { try clause(InMemoryFileSystem()) }
    }
  }

  @Test func `a storage of the program's keeps the contract, but for maps and locks of files`()
    throws
  {
    for (name, clause) in FileSystemContract.storageClauses() {
      try holding(name) { try clause(BackedFileSystem(MemoryStorage())) }
    }
  }

  @Test func `the simulated file system keeps the contract`() throws {
    for (name, clause) in FileSystemContract.clauses() {
      try holding(name) { try clause(SimulatedFileSystem()) }
    }
  }

  /// Says which clause a surprise comes from.
  private func holding(_ name: String, _ clause: () throws -> Void) throws {
    do {
      try clause()
    } catch {
      Issue.record(error, "\(name)")
    }
  }
}
