package call

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// OtherAnswer has the fields of the answers of AG-UI and of the form of a link, which say how a call runs. An answer
// that would ignore them would run the call in another way than the person has said.
type OtherAnswer struct {
	EditedArgs json.RawMessage `hidden:"true" json:"editedArgs,omitempty"`
	Decision   json.RawMessage `hidden:"true" json:"decision,omitempty"`
}

// Check returns an [spool.Invalid] error if the answer has one of the fields.
func (o OtherAnswer) Check() error {
	switch {
	case o.EditedArgs != nil:
		return NotHere("editedArgs", "arguments has those of an edited call")
	case o.Decision != nil:
		return NotHere("decision", "approved is true or false")
	default:
		return nil
	}
}

// NotHere returns the error of a field of another form of answer. Way says how this form says it.
func NotHere(field, way string) error {
	return spool.Errorf(spool.Invalid, "%s is a field of another form of answer: %s", field, way)
}
