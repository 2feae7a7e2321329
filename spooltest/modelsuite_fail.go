package spooltest

import (
	"net/http"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// maxModelError bounds the text of a model error, which is saved with its run.
const maxModelError = 4000

func modelHello() spool.ModelRequest {
	return spool.ModelRequest{Messages: []spool.Message{userText("Hello?")}}
}

func (s modelSuite) rateLimited(t *testing.T) {
	if err := s.tooMany(t, ModelRateLimited); err.After != 7*time.Second {
		t.Errorf("after %s, want 7s", err.After)
	}
}

// rateLimitedDate allows for a test that is slow, and for a date without fractions of a second.
func (s modelSuite) rateLimitedDate(t *testing.T) {
	if err := s.tooMany(t, ModelRateLimitedDate); err.After < time.Second || err.After > 30*time.Second {
		t.Errorf("after %s, want up to 30s", err.After)
	}
}

func (s modelSuite) rateLimitedBare(t *testing.T) {
	if err := s.tooMany(t, ModelRateLimitedBare); err.After != 0 {
		t.Errorf("after %s, which the provider did not say", err.After)
	}
}

func (s modelSuite) tooMany(t *testing.T, scenario ModelScenario) *spool.ModelError {
	t.Helper()

	p := s.open(t, scenario)
	err := askModel(t.Context(), t, p.Model, modelHello(), nil).mustFail(t)
	if err.Status != http.StatusTooManyRequests || err.Permanent() {
		t.Errorf("status %d, permanent %t", err.Status, err.Permanent())
	}
	wantOneRequest(t, p)
	return err
}

func (s modelSuite) unavailable(t *testing.T) {
	p := s.open(t, ModelUnavailable)
	err := askModel(t.Context(), t, p.Model, modelHello(), nil).mustFail(t)
	if err.Status != http.StatusServiceUnavailable || err.Permanent() {
		t.Errorf("status %d, permanent %t", err.Status, err.Permanent())
	}
	wantOneRequest(t, p)
}

func (s modelSuite) unauthorized(t *testing.T) {
	p := s.open(t, ModelUnauthorized)
	err := askModel(t.Context(), t, p.Model, modelHello(), nil).mustFail(t)
	if err.Status != http.StatusUnauthorized || !err.Permanent() {
		t.Errorf("status %d, permanent %t", err.Status, err.Permanent())
	}
	if n := len(err.Error()); n > maxModelError {
		t.Errorf("an error of %d bytes", n)
	}
	wantOneRequest(t, p)
}

func (s modelSuite) contextOverflow(t *testing.T) {
	p := s.open(t, ModelContextOverflow)
	err := askModel(t.Context(), t, p.Model, modelHello(), nil).mustFail(t)
	if !err.ContextOverflow || !err.Permanent() {
		t.Errorf("%v: overflow %t, permanent %t", err, err.ContextOverflow, err.Permanent())
	}
	wantOneRequest(t, p)
}

// broken checks an answer that begins but does not end properly.
func (s modelSuite) broken(scenario ModelScenario) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()

		p := s.open(t, scenario)
		got := askModel(t.Context(), t, p.Model, modelHello(), nil)
		err := got.mustFail(t)
		permanent := err.Permanent() && scenario != ModelWrongShape // the provider may send the same shape each time
		if permanent || err.Message == "" || len(err.Error()) > maxModelError {
			t.Errorf("error %q, permanent %t", err.Error(), err.Permanent())
		}
		if text := got.content.Text(); text != "Half" {
			t.Errorf("text %q before the error", text)
		}
		wantOneRequest(t, p)
	}
}

// wantOneRequest checks that the model has not retried.
func wantOneRequest(t *testing.T, p ModelPeer) {
	t.Helper()

	if n := len(p.Requests()); n != 1 {
		t.Errorf("the provider got %d requests, want 1", n)
	}
}
