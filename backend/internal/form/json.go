package form

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// encode returns the JSON of a column. What names the value in the [spool.Invalid] error.
func encode(value any, what string) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	return text, spool.Wrap(spool.Invalid, what+" cannot be encoded", err)
}
