package calls

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A cancelled call that has begun, here or at a worker that is gone, has an unknown outcome.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	const plain, unknown = `{"cancelled":true,"reason":"stopped"}`, `{"cancelled":true,"reason":"stopped","outcome":"unknown"}`
	unrun := func(p *Call) { p.state = callNew }
	parked := func(park store.Park) func(p *Call) {
		return func(p *Call) { p.ask(&park) }
	}
	for name, c := range map[string]struct {
		change func(p *Call)
		want   string
	}{
		"runs":                         {func(*Call) {}, unknown},
		"has not run":                  {unrun, plain},
		"ran at a worker that is gone": {func(p *Call) { p.repeat() }, unknown},
		"asks whether it ran":          {parked(store.Park{State: wire.ParkOpen, Reason: wire.ParkOutcomeUnknown}), unknown},
		"waits for an approval":        {parked(store.Park{State: wire.ParkOpen, Reason: wire.ParkApproval}), plain},
		"has asked":                    {parked(store.Park{State: wire.ParkOpen, Reason: "input"}), plain},
		"its work goes on":             {parked(store.Park{State: wire.ParkPending}), unknown},
		"its work asks": {func(p *Call) {
			p.ask(&store.Park{State: wire.ParkOpen})
			p.call.Pending = json.RawMessage("1")
		}, unknown},
		"is looked at": {func(p *Call) { p.state, p.call.Pending = callNew, json.RawMessage("1") }, unknown},
		"a nested run": {func(p *Call) { p.spawns = true }, plain},
	} {
		p := desk(t, store.RunRow{}).planned("look", c.change)
		p.cancel("stopped")
		if got := string(p.result); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
