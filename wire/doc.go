// Package wire has what crosses the border of an engine: the requests of a host and of clients and their results,
// runs and threads as clients see them, entries of the record, items of run streams with their payloads, frames,
// cursors and snapshots. [EntryKinds] and [ItemKinds] list the kinds. The HTTP surface sends most of these types as
// they are.
package wire
