package stream

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/spoolhq/spool/server/agui"
)

// retryLine is the hint when a client should reconnect.
func retryLine(d time.Duration) string {
	return "retry: " + strconv.FormatInt(d.Milliseconds(), 10)
}

// addRetryHint adds the retry hint after the last frame. Each client gets another delay, so that they do
// not reconnect all at once.
func (a *translated) addRetryHint(text *agui.Text) {
	spread := time.Duration(rand.Int64N(int64(a.retry) + 1)) //nolint:gosec // it spreads, and hides nothing
	text.AddLine(retryLine(a.retry + spread))
}
