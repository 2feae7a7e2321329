package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func asked() store.Park {
	return store.Park{
		RunID: "r1", Step: 1, ToolCallID: "call_1", ToolName: "send", Reason: wire.ParkApproval,
		Args: json.RawMessage(`{"to":"ann@example.com"}`),
	}
}

// TestParkDigest pins the digest, which is stored and compared with what later versions
// make of the same call.
func TestParkDigest(t *testing.T) {
	t.Parallel()

	p := asked()
	const want = "sha256:2af7a05348ba352d687845140bb1aca5b4ad588d2de5c383cf922aa867fd648d"
	if got := p.DigestOf(nil); got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
	p.State, p.Landed, p.Digest, p.Answer = wire.ParkAnswered, true, want, &spool.Answer{Approved: true}
	if got := p.DigestOf(nil); got != want {
		t.Errorf("behind the answer the digest is %s, want %s", got, want)
	}
	p.Occurrence = 1
	if got := p.DigestOf(nil); got != want {
		t.Errorf("the digest of the first question is %s, want %s", got, want)
	}
}

// TestParkDigestSame writes one call in several ways, as stores and forms do.
func TestParkDigestSame(t *testing.T) {
	t.Parallel()

	p := asked()
	first := p.DigestOf(json.RawMessage(`{"a":{"b":1,"c":[true,null,"<é>"]},"n":12345678901234567890}`))
	for _, args := range []string{
		` { "a" : { "b" : 1, "c" : [ true, null, "<é>" ] }, "n" : 12345678901234567890 } `,
		`{"n":12345678901234567890,"a":{"c":[true,null,"\u003c\u00e9>"],"b":1}}`,
	} {
		if got := p.DigestOf(json.RawMessage(args)); got != first {
			t.Errorf("%s has another digest", args)
		}
	}
}

func TestParkDigestDiffers(t *testing.T) {
	t.Parallel()

	seen := map[string]string{asked().DigestOf(nil): "nothing"}
	for name, change := range map[string]func(p *store.Park){
		"run":     func(p *store.Park) { p.RunID = "r2" },
		"step":    func(p *store.Park) { p.Step = 2 },
		"call":    func(p *store.Park) { p.ToolCallID = "call_2" },
		"tool":    func(p *store.Park) { p.ToolName = "pay" },
		"second":  func(p *store.Park) { p.Occurrence = 2 },
		"agent":   func(p *store.Park) { p.Revision = "rev_1" },
		"agent 2": func(p *store.Park) { p.Revision = "rev_2" },
		"both":    func(p *store.Park) { p.Revision, p.Occurrence = "rev_1", 2 },
		"third":   func(p *store.Park) { p.Occurrence = 3 },
		"reason":  func(p *store.Park) { p.Reason = wire.ParkOutcomeUnknown },
		"shown":   func(p *store.Park) { p.Shown = json.RawMessage(`{"to":"ann@example.com"}`) },
		"value":   func(p *store.Park) { p.Args = json.RawMessage(`{"to":"ann@example.org"}`) },
		"key":     func(p *store.Park) { p.Args = json.RawMessage(`{"cc":"ann@example.com"}`) },
		"text":    func(p *store.Park) { p.Args = json.RawMessage(`"{\"to\":\"ann@example.com\"}"`) },
		"integer": func(p *store.Park) { p.Args = json.RawMessage(`{"to":12345678901234567890}`) },
		"near":    func(p *store.Park) { p.Args = json.RawMessage(`{"to":12345678901234567891}`) },
		"empty":   func(p *store.Park) { p.Args = nil },
	} {
		p := asked()
		change(&p)
		got := p.DigestOf(nil)
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[got] = name
	}
}

func TestExpiryOr(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ x, want spool.Expiry }{
		"nothing": {spool.Expiry{}, spool.Expiry{Then: spool.ExpireDeny, TTL: time.Hour, Warn: 12 * time.Minute}},
		"extend": {
			spool.Expiry{Then: spool.ExpireExtend},
			spool.Expiry{Then: spool.ExpireExtend, TTL: time.Hour, Warn: 12 * time.Minute, Extensions: 10},
		},
		"fail": {
			spool.Expiry{Then: spool.ExpireFail, TTL: time.Minute, Warn: -1, Extensions: 3},
			spool.Expiry{Then: spool.ExpireFail, TTL: time.Hour, Warn: -1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(c.want, c.x.Or(time.Hour)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
