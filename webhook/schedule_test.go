package webhook_test

import (
	"testing"
	"time"

	"github.com/spoolhq/spool/webhook"
)

// Ten attempts over little more than three days, each wait up to a tenth longer.
func TestWait(t *testing.T) {
	t.Parallel()

	want := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
		20 * time.Hour, 24 * time.Hour,
	}
	for _, class := range []webhook.Class{webhook.Failed, webhook.Ended} {
		o := webhook.Outcome{Class: class}
		for i, w := range want {
			for _, r := range []float64{0, 0.5, 0.999} {
				got, again := webhook.Wait(o, i+1, func() float64 { return r })
				if !again || got != w+time.Duration(r*float64(w)/10) || got >= w+w/10 {
					t.Errorf("after the attempt %d with %g: %s, %t", i+1, r, got, again)
				}
			}
		}
		if got, again := webhook.Wait(o, webhook.MaxAttempts, nil); again || webhook.MaxAttempts != 10 {
			t.Errorf("after the last attempt: %s", got)
		}
	}
	later := webhook.Outcome{Class: webhook.Later, RetryAfter: 7 * time.Minute}
	if got, again := webhook.Wait(later, 3, nil); !again || got != 7*time.Minute {
		t.Errorf("as the endpoint asked: %s, %t", got, again)
	}
	if _, again := webhook.Wait(later, webhook.MaxAttempts, nil); again {
		t.Error("an endpoint gets more attempts than ten")
	}
	for _, class := range []webhook.Class{webhook.Delivered, webhook.Gone} {
		if _, again := webhook.Wait(webhook.Outcome{Class: class}, 1, nil); again {
			t.Errorf("%s: again", class)
		}
	}
}
