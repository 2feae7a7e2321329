package config

// Memory are the bounds of what requests take in memory, in bytes. A zero field is not in
// the file.
type Memory struct {
	// BodyMemory bounds the bodies of all requests under way.
	BodyMemory int
	// SnapshotMemory bounds the encoded snapshots that are kept or being sent.
	SnapshotMemory int
}

var memoryFields = []string{"body_memory", "snapshot_memory"}

func memory(f map[string]value) Memory {
	return Memory{BodyMemory: f["body_memory"].integer(), SnapshotMemory: f["snapshot_memory"].integer()}
}
