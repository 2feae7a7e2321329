package toolresult_test

import (
	"testing"

	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestFailed(t *testing.T) {
	t.Parallel()

	for result, want := range map[string]bool{
		string(toolresult.Error("status 500")): true, string(toolresult.LateError("status 500")): true,
		string(toolresult.Expired(store.Park{Reason: wire.ParkOutcomeUnknown})): true,
		`{"approved":true,"reason":"go","error":"status 500"}`:                  true,
		`{"approved":true,"result":{"error":"its own"},"error":"x"}`:            false,
		`{"error":"none","rows":[]}`:                                            false, `{"error":1}`: false,
		`"an error: none"`: false, `null`: false, ``: false,
	} {
		if got := toolresult.Failed([]byte(result)); got != want {
			t.Errorf("%s: %v, want %v", result, got, want)
		}
	}
}
