/// A step that needs the store, where an open failed.
struct NotOpen: Error {}
