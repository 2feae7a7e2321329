package config

// Memory has the limits of memory for requests, in bytes. A zero field is not in the file.
type Memory struct {
	// BodyMemory limits the bodies of all active requests.
	BodyMemory int
	// SnapshotMemory limits the encoded snapshots that are kept or being sent.
	SnapshotMemory int
}

var memoryFields = []string{"body_memory", "snapshot_memory"}

func memory(f map[string]value) Memory {
	return Memory{BodyMemory: f["body_memory"].integer(), SnapshotMemory: f["snapshot_memory"].integer()}
}
