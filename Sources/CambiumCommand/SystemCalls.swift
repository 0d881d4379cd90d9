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
