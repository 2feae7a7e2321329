package wire

import (
	"github.com/spoolhq/spool"
)

// FileDropped is the payload of [EntryFileDropped]. A run has one for each file and model, and one for each model whose
// server refuses the files of all results.
type FileDropped struct {
	// AgentID is the nested run. Left out: the run itself.
	AgentID *spool.AgentID `json:"agentId,omitempty" nullable:"false"`
	// Step is the step whose request is the first without the file, from 1.
	Step int `json:"step"`
	// ArtifactID is the file. Left out: the images and files of all results.
	ArtifactID spool.ArtifactID `json:"artifactId,omitempty"`
	Model      string           `json:"model"` // The model, by its configured name.
	Text       string           `json:"text"`  // What the model reads in place of the file.
}
