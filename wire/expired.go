package wire

import (
	"time"
)

// Expired says how many questions of a run nobody answered in time. It is a mark and not a state: the run may have
// gone on and completed. The zero value: none.
type Expired struct {
	Questions int `example:"1" json:"questions"` // How many questions nobody answered in time.
	// Since is the end of the time to answer the first of them.
	Since time.Time `json:"since"`
}

// And returns the mark with another question, whose time to answer ended at the given time.
func (x Expired) And(until time.Time) Expired {
	if x.Questions == 0 || until.Before(x.Since) {
		x.Since = until
	}
	x.Questions++
	return x
}
