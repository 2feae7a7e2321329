package wire

// TimeLimitReached is the payload of [EntryTimeLimitReached].
type TimeLimitReached struct {
	// WallTimeMS is how long workers have worked on the run, in milliseconds.
	WallTimeMS      int64 `json:"wallTimeMs"`
	WallTimeLimitMS int64 `json:"wallTimeLimitMs"` // How long they may work on it.
}

// StorageLimitReached is the payload of [EntryStorageLimitReached].
type StorageLimitReached struct {
	// BytesLimit is how many bytes the tenant may store.
	BytesLimit int64 `json:"bytesLimit"`
}
