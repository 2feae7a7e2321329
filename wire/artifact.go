package wire

import (
	"github.com/spoolhq/spool"
)

// FileDropped is the payload of [EntryFileDropped]. A run has one for each file and model, and one for each model whose
// server refuses the files of all results.
type FileDropped struct {
	// AgentID is the nested run. Nil: the dispatched run.
	AgentID *spool.AgentID `doc:"The nested run. Left out: the run itself." json:"agentId,omitempty" nullable:"false"`
	// Step is the step whose request is the first without the file, from 1.
	Step int `doc:"The step whose request is the first without the file, from 1." json:"step"`
	// ArtifactID is the file. Empty: the images and files of all results.
	ArtifactID spool.ArtifactID `doc:"The file. Left out: the images and files of all results." json:"artifactId,omitempty"`
	Model      string           `doc:"The model, by its configured name."                       json:"model"`
	Text       string           `doc:"What the model reads in place of the file."               json:"text"`
}
