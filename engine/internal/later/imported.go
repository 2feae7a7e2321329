package later

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Kind is the kind of the rows that show what waits.
const Kind = startKind

// keepImported is for how long after its time an imported start can be seen that nobody has moved.
const keepImported = 30 * 24 * time.Hour

// imported is why a start is refused that has come from another store.
const imported = "It was imported: move it to start it here, once the server that it comes from no longer does"

// Imported returns the value of a row of Kind as an import adds it: the start is refused since a time, until somebody
// moves it. Its job may be imported too, and starts nothing.
func Imported(value json.RawMessage, at time.Time) (json.RawMessage, error) {
	var s Start
	if err := decoded(value, &s); err != nil || !s.RefusedAt.IsZero() {
		return value, err
	}
	s.RefusedAt, s.Reason, s.Error = at.UTC(), wire.ReasonImported, imported
	return encoded(s), nil
}

// Outlive ends an imported start, which has come due, 30 days from now. Before that time its job is there, with which
// the removal of its thread finds it. It returns [store.ErrRowChanged] if the start is not as it was read.
func (d Store) Outlive(ctx context.Context, s Start) error {
	return d.put(ctx, s.nobody(), s, func(tx store.Tx, _ *Start) (store.Changes, time.Time) {
		return store.Changes{}, tx.Now().Add(keepImported)
	})
}
