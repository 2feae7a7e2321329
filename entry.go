package spool

// EntryType names a kind of record entry or of notice. Readers must ignore kinds
// that they do not know.
type EntryType string
