package store

// PinnedTools names the list of a [spool.ToolSource] that a run uses.
type PinnedTools struct {
	Source string `json:"source"`
	// List is the id of the stored list, a hash of its content.
	List string `json:"list"`
}
