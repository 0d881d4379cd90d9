import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Several processes and one store (X13). Each runs in a process of its own, and its children are forks of
/// that.
@Suite("Several processes", .serialized)
struct ProcessTests {
  // MARK: What is looked at, in whichever process

  private static let key: Bytes = [1, 2, 3]

  /// What comes of opening the store for writing: 0 if it opens, 2 if `holder` has it, 3 if another has.
  private static func enter(_ path: String, holder: Int32? = nil) -> Int32 {
    do {
      let store = try RawStore(at: path)
      try store.close()
      return 0
    } catch StoreError.locked(_, let found) {
      return found == holder ? 2 : 3
    } catch {
      return 4
    }
  }

  private static func put(_ value: UInt8, in store: RawStore) throws {
    let tree = try store.tree("t")
    try store.write { transaction in
      try transaction.put(Self.key.rawSpan, ([value] as Bytes).rawSpan, in: tree)
    }
  }

  private static func value(_ path: String) throws -> UInt8? {
    let reader = try RawReader(at: path)
    return try reader.snapshot()[reader.tree("t")].copyValue(for: Self.key.rawSpan)?.first
  }

  private static func check(_ condition: Bool, _ status: Int32) {
    if !condition { exit(status) }
  }

  private final class Box<Value>: @unchecked Sendable {
    var value: Value?

    init(_ value: Value) { self.value = value }
  }

  // MARK: Scenarios

  @Test(.timeLimit(.minutes(60)))
  func `a store that is open is refused to the same process, and to others`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let store = try RawStore(at: path)
      let process = getpid()
      Self.check(Self.enter(path, holder: process) == 2, 1)
      Self.check(inForkedChild { Self.enter(path, holder: process) } == 2, 2)
      try Self.put(1, in: store)
      try store.close()
      Self.check(inForkedChild { Self.enter(path) } == 0, 3)
      Self.check(Self.enter(path) == 0, 4)
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `whatever path leads to it, moved or linked`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let store = try RawStore(at: path + "/store")
      let process = getpid()
      Self.check(unsafe symlink("store", path + "/link") == 0, 1)
      Self.check(inForkedChild { Self.enter(path + "/link", holder: process) } == 2, 2)
      Self.check(unsafe rename(path + "/store", path + "/moved") == 0, 3)
      Self.check(inForkedChild { Self.enter(path + "/moved", holder: process) } == 2, 4)
      // The store went with its directory.
      try Self.put(7, in: store)
      try store.close()
      Self.check(try Self.value(path + "/moved") == 7, 5)
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `a forked child can neither write nor read by its parent's store`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let store = try RawStore(at: path)
      try Self.put(1, in: store)
      let process = getpid()
      let status = inForkedChild {
        do {
          try Self.put(2, in: store)
          return 1
        } catch StoreError.forked {} catch { return 2 }
        do {
          _ = try store.snapshot()
          return 3
        } catch StoreError.forked {} catch { return 4 }
        do {
          try store.flush()
          try store.close()
        } catch {}
        if Self.enter(path, holder: process) != 2 { return 5 }
        // A reader of its own it may have.
        guard let reader = try? RawReader(at: path) else { return 6 }
        return (try? reader.refresh()) == nil ? 7 : 0
      }
      Self.check(status == 0, 10 + status)
      try Self.put(3, in: store)
      try store.close()
      Self.check(try Self.value(path) == 3, 1)
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `a forked child is refused at once, whatever its parent's threads were doing`() async throws
  {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let engine = try Engine.open(PosixFileSystem(at: path))
      let threads = try EngineThreads(for: engine)
      // As if another thread had it: in the child nobody will give it back.
      engine.lock.lock()
      let status = inForkedChild {
        alarm(20)
        var refused = 0
        func expectRefusal(_ body: () throws -> Void) {
          do { try body() } catch StoreError.forked { refused += 1 } catch {}
        }
        expectRefusal { try engine.put([1], [1]) }
        expectRefusal { try engine.flush() }
        expectRefusal { _ = try engine.snapshot() }
        expectRefusal { try engine.close() }
        threads.end()
        return refused == 4 ? 0 : 1
      }
      engine.lock.unlock()
      Self.check(status == 0, 10 + status)
      try engine.put([1], [2])
      try engine.close()
      threads.end()
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `a killed holder leaves every acknowledged commit and no lock`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let status = inForkedChild {
        guard let store = try? RawStore(at: path) else { return 1 }
        for value in 1...5 as ClosedRange<UInt8> { try? Self.put(value, in: store) }
        _ = kill(getpid(), SIGKILL)
        return 0
      }
      Self.check(status == -1, 1)
      // Who only reads sees it before anybody has recovered it.
      Self.check(try Self.value(path) == 5, 2)
      Self.check(Self.enter(path) == 0, 3)
      Self.check(try Self.value(path) == 5, 4)
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `removing LOCK lets nobody in`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let store = try RawStore(at: path)
      Self.check(unsafe unlink(path + "/LOCK") == 0, 1)
      Self.check(Self.enter(path) == 2, 2)
      Self.check(inForkedChild { Self.enter(path) } == 2, 3)
      try Self.put(1, in: store)
      try store.close()
      Self.check(Self.enter(path) == 0, 4)
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `a directory that cannot be written to is read, and not opened for writing`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let store = try RawStore(at: path + "/store")
      try Self.put(9, in: store)
      try store.close()
      let files = try PosixFileSystem(at: path + "/store").list(at: .test)
      for name in files { Self.check(unsafe chmod("\(path)/store/\(name)", 0o444) == 0, 1) }
      Self.check(unsafe chmod(path + "/store", 0o555) == 0, 2)
      Self.check(unsafe chmod(path, 0o755) == 0, 3)
      let status = inForkedChild {
        // What is allowed to everybody is what counts for nobody.
        if getuid() == 0, setuid(65534) != 0 { return 1 }
        do {
          guard try Self.value(path + "/store") == 9 else { return 2 }
          _ = try RawStore(at: path + "/store")
          return 3
        } catch StoreError.io(.permissionDenied, _, _) {
          return 0
        } catch {
          return 4
        }
      }
      Self.check(status == 0, 10 + status)
      Self.check(try Set(PosixFileSystem(at: path + "/store").list(at: .test)) == Set(files), 4)
      _ = unsafe chmod(path + "/store", 0o755)
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `a program that a writer starts inherits nothing of it`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      // The writer starts a program that goes on, and is killed.
      let writer = ForkedChild { pipe in
        guard let store = try? RawStore(at: path) else { return 1 }
        try? Self.put(4, in: store)
        let program = inForkedChild {
          typealias Fork = @convention(c) () -> pid_t
          guard let symbol = unsafe dlsym(nil, "fork") else { return 1 }
          if unsafe unsafeBitCast(symbol, to: Fork.self)() != 0 { return 0 }
          send(UInt64(getpid()), to: pipe)
          var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [
            strdup("sleep"), strdup("30"), nil,
          ]
          _ = unsafe execv("/bin/sleep", &arguments)
          return 1
        }
        Self.check(program == 0, 2)
        while true { pause() }
      }
      guard let writer, let program = writer.next() else { exit(1) }
      // Until it is another program it has its parent's files.
      while Self.nameOfProgram(Int32(program)) != "sleep" { sched_yield() }
      writer.kill()
      Self.check(writer.wait() == -1, 2)
      let status = Self.enter(path)
      _ = kill(pid_t(program), SIGKILL)
      Self.check(status == 0, 3)
      Self.check(try Self.value(path) == 4, 4)
    }
    withExtendedLifetime(directory) {}
  }

  private static func nameOfProgram(_ process: Int32) -> String {
    let descriptor = unsafe open("/proc/\(process)/comm", O_RDONLY)
    defer { close(descriptor) }
    var bytes = Bytes(repeating: 0, count: 32)
    let count = unsafe read(descriptor, &bytes, 32)
    return String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)
  }

  @Test(.timeLimit(.minutes(60)))
  func `of a killed holder's forks the last one frees the store`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let writer = ForkedChild { pipe in
        guard let store = try? RawStore(at: path) else { return 1 }
        return withExtendedLifetime(store) {
          inForkedChild {
            send(UInt64(getpid()), to: pipe)
            while true { pause() }
          }
        }
      }
      guard let writer, let child = writer.next() else { exit(1) }
      writer.kill()
      Self.check(writer.wait() == -1, 2)
      Self.check(Self.enter(path) != 0, 3)
      _ = kill(pid_t(child), SIGKILL)
      // Nobody can wait for another's child; the lock goes with its end.
      while Self.enter(path) != 0 { sched_yield() }
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `readers hinder no writer, and go on from one to the next`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      var reader: RawReader?
      var last: UInt8 = 0
      for round in 1...6 as ClosedRange<UInt8> {
        let status = inForkedChild {
          guard let store = try? RawStore(at: path) else { return 1 }
          do {
            try Self.put(round, in: store)
            if round % 2 == 0 { _exit(0) }
            try store.close()
            return 0
          } catch { return 2 }
        }
        Self.check(status == 0, 1)
        reader = try reader ?? RawReader(at: path)
        guard let reader else { exit(2) }
        let held = reader.snapshot()
        _ = try reader.refresh()
        let tree = try reader.tree("t")
        let found = try reader.snapshot()[tree].copyValue(for: Self.key.rawSpan)
        Self.check(found == [round], 3)
        if round > 1 {
          Self.check(try held[tree].copyValue(for: Self.key.rawSpan) == [last], 4)
        }
        last = round
      }
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `a reader follows another process through folds and uses of the log`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let last = UInt64(scaled(3000, debug: 300))
      let writer = ForkedChild { pipe in
        var options = RawStoreOptions()
        options.engine.foldThreshold = 16 << 10
        do {
          let store = try RawStore(at: path, options: options)
          let tree = try store.tree("t")
          send(0, to: pipe)
          for index in 1...last {
            try store.write(durability: index % 7 == 0 ? .durable : .relaxed) {
              transaction in
              let value = Bytes(repeating: UInt8(truncatingIfNeeded: index), count: 100)
              for key in 0..<10 as Range<UInt8> {
                try transaction.put(([key] as Bytes).rawSpan, value.rawSpan, in: tree)
              }
            }
          }
          try store.close()
          return 0
        } catch { return 1 }
      }
      guard let writer, writer.next() == 0 else { exit(1) }
      let reader = try RawReader(at: path)
      let tree = try reader.tree("t")
      var held: [RawSnapshot] = []
      var sequence: UInt64 = 0
      while sequence < last {
        _ = try reader.refresh()
        let snapshot = reader.snapshot()
        Self.check(snapshot.sequence >= sequence, 2)
        if snapshot.sequence == sequence {
          sched_yield()
          continue
        }
        sequence = snapshot.sequence
        held.append(snapshot)
        if held.count > 8 { held.removeFirst(4) }
        for snapshot in held where snapshot.sequence > 0 {
          Self.check(snapshot[tree].count == 10, 3)
          let value = Bytes(
            repeating: UInt8(truncatingIfNeeded: snapshot.sequence), count: 100)
          for key in 0..<10 as Range<UInt8> {
            Self.check(
              try snapshot[tree].copyValue(for: ([key] as Bytes).rawSpan) == value, 4)
          }
        }
      }
      Self.check(writer.wait() == 0, 5)
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `of many that open it at once one gets it, and the rest are told`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      _ = try RawStore(at: path).close()
      for _ in 0..<scaled(10, debug: 3) {
        var counts: [Int32: Int] = [:]
        let threads = try (0..<4).map { _ in Box(try Self.contender(path)) }
        for thread in threads { counts[thread.value?.join() ?? 9, default: 0] += 1 }
        // Who came when another had closed gets it, too.
        Self.check(counts[4] == nil && counts[9] == nil && (counts[0] ?? 0) >= 1, 1)
      }
    }
    withExtendedLifetime(directory) {}
  }

  private final class Contender: @unchecked Sendable {
    private var thread: BackgroundThread?
    private var status: Int32 = 9

    init(_ path: String) throws {
      thread = try BackgroundThread(name: "contender") { [unowned self] in
        status = ProcessTests.enter(path, holder: getpid())
      }
    }

    func join() -> Int32 {
      thread?.join()
      return status
    }
  }

  private static func contender(_ path: String) throws -> Contender { try Contender(path) }

  @Test(.timeLimit(.minutes(60)))
  func `a reader in another process reads on while segments are emptied`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      // The writer folds and compacts on and on; both of a pair of keys always have the same value.
      let writer = ForkedChild { pipe in
        guard let store = try? RawStore(at: path), let tree = try? store.tree("t") else { return 1 }
        var round: UInt8 = 0
        while true {
          round &+= 1
          do {
            try store.write { transaction in
              for key in 0..<200 as Range<UInt8> {
                let value = Bytes(repeating: round, count: 300)
                try transaction.put([key, 0].rawSpan, value.rawSpan, in: tree)
                try transaction.put([key, 1].rawSpan, value.rawSpan, in: tree)
              }
            }
            try store.fold()
            _ = try store.compact()
          } catch {
            return 2
          }
          send(UInt64(round), to: pipe)
        }
      }
      guard let writer, writer.next() != nil else { exit(1) }
      let reader = try RawReader(at: path)
      let tree = try reader.tree("t")
      var held: [(RawSnapshot, UInt8)] = []
      for round in 0..<60 {
        _ = try reader.refresh()
        let snapshot = reader.snapshot()
        guard let first = try snapshot[tree].copyValue(for: [0, 0].rawSpan)?.first else { exit(2) }
        if round % 10 == 0 { held.append((snapshot, first)) }
        for (snapshot, first) in held + [(snapshot, first)] {
          Self.check(snapshot[tree].count == 400, 3)
          for key in [0, 77, 199] as Bytes {
            let one = try snapshot[tree].copyValue(for: [key, 0].rawSpan)
            let two = try snapshot[tree].copyValue(for: [key, 1].rawSpan)
            Self.check(one == two && one == Bytes(repeating: first, count: 300), 4)
          }
        }
        Self.check(writer.next() != nil, 5)
      }
      writer.kill()
      Self.check(writer.wait() == -1, 6)
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `a reader in the writer's own process sees what is flushed`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let store = try RawStore(at: path)
      let reader = try RawReader(at: path)
      let tree = try reader.tree("t")
      for value in 1...20 as ClosedRange<UInt8> { try Self.put(value, in: store) }
      // The engine seals the log when it is idle.
      while reader.snapshot().sequence < 20 {
        _ = try reader.refresh()
        sched_yield()
      }
      Self.check(try reader.snapshot()[tree].copyValue(for: Self.key.rawSpan) == [20], 1)
      try store.close()
      Self.check(try !reader.refresh(), 2)
    }
    withExtendedLifetime(directory) {}
  }
}
