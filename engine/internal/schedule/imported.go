package schedule

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// imported is why a schedule is paused that has come from another store.
const imported = "It was imported: resume it when the server that it comes from no longer starts its runs"

// Imported returns the value of a schedule's row as an import adds it: paused since a time. The tick of the turn before
// may be imported too, and does nothing.
func Imported(value json.RawMessage, at time.Time) (json.RawMessage, error) {
	var r row
	if err := json.Unmarshal(value, &r.state); err != nil {
		return nil, spool.Wrap(spool.Invalid, "the schedule cannot be read", err)
	}
	if !r.paused() {
		r.pause(at, imported)
	}
	return encode(r.state), nil
}
