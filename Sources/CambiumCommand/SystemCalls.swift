#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// The calls of the C library that some types have members of the same name as. In a function of no type the plain name is the
// call, whichever C library it comes from.

func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, bytes, count)
}

func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}

func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

func systemPipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { unsafe pipe(ends) }

func systemKill(_ process: pid_t) { _ = kill(process, SIGKILL) }

func systemExit(_ status: Int32) -> Never { exit(status) }

// Where macOS differs. Nothing of it was run there.

/// The path of the program that runs; nil if the system does not say it.
var systemProgramPath: String? {
  #if canImport(Darwin)
    var count: UInt32 = 0
    _ = unsafe _NSGetExecutablePath(nil, &count)
    var path = [CChar](repeating: 0, count: Int(count) + 1)
    guard unsafe _NSGetExecutablePath(&path, &count) == 0 else { return nil }
    return unsafe String(cString: path)
  #else
    return "/proc/self/exe"
  #endif
}

/// Starts this program again, with its output written to a pipe.
///
/// - Parameters:
///   - words: The arguments, the name first, with nil after the last.
///   - output: The end of the pipe that it writes to.
///   - unused: A descriptor that it does not get.
/// - Returns: The process; nil if it was not started.
func systemStartAgain(
  _ words: [UnsafeMutablePointer<CChar>?], writingTo output: Int32, without unused: Int32
) -> pid_t? {
  guard let path = systemProgramPath else { return nil }
  #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t? = nil
    let environment = unsafe _NSGetEnviron().pointee
  #else
    var actions = unsafe posix_spawn_file_actions_t()
    let environment = unsafe environ
  #endif
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
  unsafe posix_spawn_file_actions_addclose(&actions, unused)
  var child: pid_t = 0
  let status = unsafe posix_spawn(&child, path, &actions, nil, words, environment)
  return status == 0 ? child : nil
}
