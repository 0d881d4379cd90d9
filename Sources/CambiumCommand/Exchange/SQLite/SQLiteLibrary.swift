#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The functions of the system's libsqlite3. It is loaded when a database is read: nothing else needs it.
@safe struct SQLiteLibrary {
  typealias Code = Int32

  let open:
    @convention(c) (
      UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, Int32, UnsafePointer<CChar>?
    ) -> Code
  let close: @convention(c) (OpaquePointer?) -> Code
  let message: @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
  let prepare:
    @convention(c) (
      OpaquePointer, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>,
      UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> Code
  let limit: @convention(c) (OpaquePointer?, Int32, Int32) -> Int32
  let finalize: @convention(c) (OpaquePointer?) -> Code
  let step: @convention(c) (OpaquePointer) -> Code
  let reset: @convention(c) (OpaquePointer) -> Code
  let bind: @convention(c) (OpaquePointer, Int32, OpaquePointer?) -> Code
  let value: @convention(c) (OpaquePointer, Int32) -> OpaquePointer?
  let type: @convention(c) (OpaquePointer, Int32) -> Int32
  let integer: @convention(c) (OpaquePointer, Int32) -> Int64
  let double: @convention(c) (OpaquePointer, Int32) -> Double
  let blob: @convention(c) (OpaquePointer, Int32) -> UnsafeRawPointer?
  let text: @convention(c) (OpaquePointer, Int32) -> UnsafePointer<UInt8>?
  let length: @convention(c) (OpaquePointer, Int32) -> Int32
  let createCollation:
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafeMutableRawPointer?, Comparison?
    ) -> Code

  /// Compares two strings, each given by its length and its bytes.
  typealias Comparison =
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
    ) -> Int32

  #if canImport(Darwin)
    private static let names = ["libsqlite3.dylib"]
  #else
    private static let names = ["libsqlite3.so.0", "libsqlite3.so"]
  #endif

  /// The version of the system's library; nil if there is none.
  static var version: String? {
    guard let library = unsafe names.lazy.compactMap({ unsafe dlopen($0, RTLD_NOW) }).first,
      let address = unsafe dlsym(library, "sqlite3_libversion")
    else { return nil }
    typealias Version = @convention(c) () -> UnsafePointer<CChar>
    return unsafe String(cString: unsafeBitCast(address, to: Version.self)())
  }

  /// Loads the library, which stays loaded.
  ///
  /// - Throws: `CommandFailure` if the system has none, with the package that brings it.
  init() throws {
    let names = Self.names
    guard let library = unsafe names.lazy.compactMap({ unsafe dlopen($0, RTLD_NOW) }).first else {
      throw CommandFailure(
        .inputOutput,
        "\(names[0]) cannot be loaded. Install SQLite's library: apt-get install libsqlite3-0.")
    }
    func function<Function>(_ name: String) throws -> Function {
      guard let address = unsafe dlsym(library, "sqlite3_" + name) else {
        throw CommandFailure(
          .inputOutput, "\(names[0]) has no sqlite3_\(name). Install SQLite 3.20 or newer.")
      }
      return unsafe unsafeBitCast(address, to: Function.self)
    }
    unsafe open = try function("open_v2")
    unsafe close = try function("close_v2")
    unsafe message = try function("errmsg")
    unsafe prepare = try function("prepare_v2")
    unsafe limit = try function("limit")
    unsafe finalize = try function("finalize")
    unsafe step = try function("step")
    unsafe reset = try function("reset")
    unsafe bind = try function("bind_value")
    unsafe value = try function("column_value")
    unsafe type = try function("column_type")
    unsafe integer = try function("column_int64")
    unsafe double = try function("column_double")
    unsafe blob = try function("column_blob")
    unsafe text = try function("column_text")
    unsafe length = try function("column_bytes")
    unsafe createCollation = try function("create_collation")
  }
}
