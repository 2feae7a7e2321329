//go:build unix

package main

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTickets counts tickets that came again, came late, or were repeated.
func TestTickets(t *testing.T) {
	t.Parallel()

	name := t.TempDir() + "/one"
	text := `{"op":"took","job":1,"token":1,"began":10,"ended":12}
{"op":"claim","job":1,"token":1,"began":10,"ended":13}
{"op":"claim","job":1,"token":1,"began":20,"ended":21}
{"op":"took","job":1,"token":2,"began":30,"ended":31}
{"op":"claim","job":1,"token":2,"began":40,"ended":41}
{"op":"ack","job":1,"token":2,"kind":"release","began":42,"ended":43}
{"op":"took","job":1,"token":4,"began":50,"ended":51}
{"op":"claim","job":1,"token":4,"began":50,"ended":52}
`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newReader()
	if found, err := r.read([]string{name}); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	if r.claims != 4 || r.repeated != 1 || r.late != 1 {
		t.Errorf("%d deliveries, %d repeated, %d late", r.claims, r.repeated, r.late)
	}
	if lost := r.lost(); len(lost) != 1 || lost[0].Token != 1 {
		t.Errorf("lost are %+v, want the first delivery: the second was released, and the third is the last", lost)
	}
}

// TestNotifications counts whole notifications, and stops at what is none.
func TestNotifications(t *testing.T) {
	t.Parallel()

	message := func(kind byte, length int) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+length)), make([]byte, length)...)
	}
	all := append(append(append(message('A', 20), message('N', 3)...), message('A', 0)...), 'A', 0)
	if n := notifications(all); n != 2 {
		t.Errorf("%d notifications, want 2", n)
	}
	if n := notifications([]byte{'A', 0, 0, 0, 0, 'A'}); n != 1 {
		t.Errorf("%d notifications in something else", n)
	}
}

// TestTakeovers summarises durations.
func TestTakeovers(t *testing.T) {
	t.Parallel()

	k := &takeovers{}
	if got := k.summary(); got != (durations{}) {
		t.Errorf("%+v of nothing", got)
	}
	for i := range 200 {
		k.took = append(k.took, time.Duration(200-i)*100*time.Millisecond)
	}
	if got := k.summary(); got != (durations{Count: 200, P50: 10, P99: 19.8, Max: 20}) {
		t.Errorf("%+v", got)
	}
	now := time.Now()
	if k.away(); k.reachable(now.Add(-time.Second)) || !k.reachable(now.Add(time.Hour)) {
		t.Error("the time of the database's absence is wrong")
	}
}

// TestStrictProvider refuses each request that is one too many in a sliding minute.
func TestStrictProvider(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := &strictProvider{rpm: 2, by: make(map[string]int)}
		var said []bool
		for _, wait := range []time.Duration{0, 30 * time.Second, 29 * time.Second, 2 * time.Second, 59 * time.Second} {
			<-time.After(wait)
			said = append(said, p.take("w"))
		}
		if want := []bool{true, true, false, false, true}; !slices.Equal(said, want) {
			t.Errorf("the provider says %t, want %t", said, want)
		}
		if refused, most, workers := p.totals(); refused != 2 || most != 3 || workers != 1 {
			t.Errorf("%d refused, %d in a minute, %d workers", refused, most, workers)
		}
	})
}

// TestOptions has options that are wrong.
func TestOptions(t *testing.T) {
	t.Parallel()

	if o, err := parseOptions(strings.Fields("--kills 5 --only kill,roll")); err != nil || len(o.chosen()) != 2 ||
		o.chosen()[0].weight <= faults[0].weight {
		t.Errorf("%+v, %v", o.chosen(), err)
	}
	for _, wrong := range []string{"--only kill,sleep", "--limits 1m", "--nodes 0", "--break no", "more"} {
		if _, err := parseOptions(strings.Fields(wrong)); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
