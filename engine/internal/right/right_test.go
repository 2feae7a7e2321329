package right_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/right"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/wire"
)

var (
	noon = time.Date(2026, time.December, 1, 12, 0, 0, 0, time.UTC)
	all  = wire.Rights{Scopes: []string{"read", "write"}}
)

func asks(r wire.Rights, err error) func(context.Context, wire.Maker) (wire.Rights, error) {
	return func(context.Context, wire.Maker) (wire.Rights, error) { return r, err }
}

// What a delayed start keeps of its maker, and until when it may come due.
func TestDelay(t *testing.T) {
	t.Parallel()

	nobody := &spool.Error{Code: spool.Forbidden, Message: "nobody knows", Err: option.ErrNoLookup}
	known, none := asks(all, nil), asks(wire.Rights{}, nobody)
	ended := asks(wire.Rights{}, spool.Errorf(spool.Forbidden, "ended"))
	down := asks(wire.Rights{}, spool.Errorf(spool.Unavailable, "down"))
	only := right.Only([]string{"read"})
	const token, person, session = wire.MakerToken, wire.MakerPrincipal, wire.MakerSession
	for name, c := range map[string]struct {
		lookup right.Lookup
		kind   wire.MakerKind
		until  time.Duration // the end of the credentials behind noon, zero if it is not known
		due    time.Duration
		want   wire.MakerKind // "" if the start is refused with code
		code   spool.Code
	}{
		"looked up":                      {right.Lookup{Ask: known}, token, 0, 9, token, ""},
		"looked up, ends before":         {right.Lookup{Ask: known}, token, 5, 9, "", spool.Invalid},
		"a principal that is looked up":  {right.Lookup{Ask: known}, person, 9, 5, person, ""},
		"ended":                          {right.Lookup{Ask: ended}, person, 9, 5, "", spool.Forbidden},
		"not known now":                  {right.Lookup{Ask: down}, token, 9, 5, "", spool.Unavailable},
		"nobody asks":                    {right.Lookup{}, token, 9, 5, session, ""},
		"nobody asks, ends before":       {right.Lookup{}, token, 5, 9, "", spool.Invalid},
		"nobody asks, ends at once":      {right.Lookup{}, token, 5, 5, "", spool.Invalid},
		"nobody asks, no end":            {right.Lookup{}, person, 0, 9, session, ""},
		"nobody knows":                   {right.Lookup{Ask: none}, person, 9, 5, session, ""},
		"nobody knows, ends before":      {right.Lookup{Ask: none}, person, 5, 9, "", spool.Invalid},
		"nobody knows, no end":           {right.Lookup{Ask: none}, person, 0, 9, session, ""},
		"bounded, still good":            {right.Lookup{Ask: none, Bound: only}, person, 9, 5, session, ""},
		"bounded, behind its end":        {right.Lookup{Ask: none, Bound: only, Age: 20}, person, 5, 9, person, ""},
		"bounded, behind the age":        {right.Lookup{Ask: none, Bound: only, Age: 20}, person, 5, 30, "", spool.Invalid},
		"bounded, no end":                {right.Lookup{Ask: none, Bound: only}, person, 0, 5, "", spool.Forbidden},
		"a token beside a bound":         {right.Lookup{Ask: known, Bound: only}, token, 0, 5, token, ""},
		"a token beside a bound, no ask": {right.Lookup{Bound: only}, token, 0, 5, session, ""},
	} {
		m := wire.Maker{Kind: c.kind, Rights: all}
		if c.until != 0 {
			m.Until = noon.Add(c.until)
		}
		kept, err := c.lookup.Delay(t.Context(), m, noon, noon.Add(c.due))
		if err == nil && kept.Kind != c.want || err != nil && (c.want != "" || spool.CodeOf(err) != c.code) ||
			err == nil && c.want == "" {
			t.Errorf("%s: %+v, %v", name, kept, err)
		}
	}
}

// A start never gets more than it was asked for with.
func TestNarrow(t *testing.T) {
	t.Parallel()

	r, a := right.Narrow(wire.StartRequest{Scopes: []string{"write", "boss"}}, wire.Actor{}, all)
	if !slices.Equal(r.Scopes, []string{"write"}) || r.MayNotStop || a.OwnOnly {
		t.Errorf("%+v, %+v", r, a)
	}
	r, a = right.Narrow(wire.StartRequest{}, wire.Actor{}, wire.Rights{OwnOnly: true, MayNotStop: true})
	if len(r.Scopes) > 0 || !r.MayNotStop || !a.OwnOnly {
		t.Errorf("%+v, %+v", r, a)
	}
	r, a = right.Narrow(wire.StartRequest{MayNotStop: true}, wire.Actor{OwnOnly: true}, all)
	if !r.MayNotStop || !a.OwnOnly {
		t.Errorf("%+v, %+v", r, a)
	}
}
