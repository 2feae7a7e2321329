package form

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// What is encoded is read again, and the zero value takes no space.
func TestParkEncoded(t *testing.T) {
	t.Parallel()
	for _, park := range []store.Park{
		{},
		{
			Answer: &spool.Answer{Approved: true, Reason: "yes"}, Before: &spool.Answer{Reason: "no"},
			Expiry: spool.Expiry{Then: spool.ExpireFail, TTL: time.Hour}, Frames: []wire.ParkFrame{{ToolCallID: "c"}},
		},
	} {
		e, err := EncodePark(&park)
		if err != nil {
			t.Fatal(err)
		}
		if park.Answer == nil && len(e.Answer)+len(e.Before)+len(e.Expiry)+len(e.Frames) > 0 {
			t.Errorf("a park without anything is stored as %s", e)
		}
		columns := make([]any, 21)
		columns[8], columns[9], columns[14], columns[17] = string(e.Answer), string(e.Before), string(e.Expiry),
			string(e.Frames)
		r := &values{t: t, all: columns}
		if diff := cmp.Diff(park, ScanPark(r)); diff != "" || r.err != nil {
			t.Errorf("%v (-stored +read):\n%s", r.err, diff)
		}
	}
	_, err := EncodePark(&store.Park{Before: &spool.Answer{Payload: json.RawMessage("{")}})
	wantInvalid(t, err, "the park's answer cannot be encoded")
}

// An upsert replaces all of a park but its key.
func TestReplacedPark(t *testing.T) {
	t.Parallel()
	var want []string
	for _, column := range strings.FieldsFunc(ParkColumns, func(r rune) bool {
		return strings.ContainsRune(", \n\t", r)
	})[2:] {
		want = append(want, column+" = excluded."+column)
	}
	if diff := cmp.Diff(strings.Join(want, ", "), strings.Join(strings.Fields(ReplacedPark), " ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompleteMessage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 20, 0, 0, 0, time.UTC)
	for _, made := range []time.Time{{}, now.Add(-time.Hour)} {
		m := spool.Message{
			ID: "m", Role: spool.RoleUser, Content: spool.Content{{Type: spool.PartText, Text: "hello"}}, CreatedAt: made,
		}
		content, err := CompleteMessage(&m, 7, now)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]time.Time{true: now, false: made}[made.IsZero()]; m.AfterSeq != 7 || !m.CreatedAt.Equal(want) {
			t.Errorf("the message of %s is %+v", made, m)
		}
		m.ThreadID = "t"
		r := &values{t: t, all: []any{string(m.ID), "", string(m.Role), content, Micros(m.CreatedAt), "", "", m.AfterSeq}}
		if diff := cmp.Diff(m, ScanMessage(r, "t")); diff != "" || r.err != nil {
			t.Errorf("%v (-stored +read):\n%s", r.err, diff)
		}
	}
}

// An unknown cost is NULL, and one of zero is not.
func TestUsageCost(t *testing.T) {
	t.Parallel()
	for _, want := range []*spool.Cost{nil, {Currency: "EUR", Version: "v"}, {Micros: 5, Currency: "EUR", Source: "s"}} {
		cost, micros := CostOf(&wire.UsageRow{Cost: want})
		columns := make([]any, 21)
		if micros != nil {
			columns[15] = *micros
		}
		columns[16], columns[17], columns[18] = cost.Currency, string(cost.Source), cost.Version
		if diff := cmp.Diff(want, ScanUsage(&values{t: t, all: columns}).Cost); diff != "" {
			t.Errorf("(-stored +read):\n%s", diff)
		}
	}
}
