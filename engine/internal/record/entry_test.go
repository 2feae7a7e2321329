package record

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The stream of an entry comes from its payload, whoever has written the payload.
func TestStreamOf(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{
		string(wire.NewEntry("", "", wire.RunStarted{RunID: "r1", StreamID: "r1:2", Segment: 2}).Payload),
		string(
			wire.NewEntry("", "", wire.RunEnded{
				RunID: "r1", StreamID: "r1:2", Segment: 2, Status: wire.SegmentError, Error: `"streamId":"x"`,
			}).Payload,
		),
		`{"streamId":"r1:2","runId":"r1"}`, `{"runId":"r1", "streamId":"r1:2"}`, `{"runId":"r2","streamId":"r1:2"}`,
		`{"runId":"r1","streamId":"r1\u003a2"}`, `{"runId":"r1"}`, `{"runId":"r1","streamId":`, `{"runId":"r1","streamId":"`,
		`7`, ``,
	} {
		var want struct {
			StreamID wire.StreamID `json:"streamId"`
		}
		wantErr := json.Unmarshal([]byte(payload), &want)
		got, err := StreamOf(wire.Entry{RunID: "r1", Payload: json.RawMessage(payload)})
		if (err != nil) != (wantErr != nil) || err == nil && got != want.StreamID {
			t.Errorf("%s: %q (%v), want %q (%v)", payload, got, err, want.StreamID, wantErr)
		}
	}
}

// broken is a [store.View] whose record cannot be read to its end.
type broken struct{ store.View }

var errBroken = errors.New("the record is broken")

func (broken) Entries(store.EntryQuery) ([]wire.Entry, error) {
	return []wire.Entry{{Seq: 1}}, errBroken
}

// What is found in a record that cannot be read is not taken for the last entry.
func TestLastUpToFails(t *testing.T) {
	t.Parallel()
	if got, err := LastUpTo(broken{}, wire.EntryRunStarted, 9); !errors.Is(err, errBroken) || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
