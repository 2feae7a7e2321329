package store_test

import (
	"testing"
	"time"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestAckError(t *testing.T) {
	t.Parallel()
	for want, ack := range map[string]store.Ack{
		"the event comes again after 5s": {Kind: store.AckRelease, After: 5 * time.Second},
		"the event is dead: status 410":  {Kind: store.AckDead, Cause: "status 410"},
		"the event is done":              {Kind: store.AckDone},
	} {
		if got := (&store.AckError{Ack: ack}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A ticket is told of on the topic for runs, and an event on its own.
func TestJobTopic(t *testing.T) {
	t.Parallel()
	if got := store.JobTopic(wire.Job{RunID: "r1"}); got != store.JobsTopic {
		t.Errorf("a ticket is told of on %s", got)
	}
	if got := store.JobTopic(wire.Job{Queue: "mail"}); got != store.EventsTopic || got == store.JobsTopic {
		t.Errorf("an event is told of on %s", got)
	}
}
