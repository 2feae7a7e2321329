package spooltest

import (
	"context"
	"errors"
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
	p := s.open(t, ModelRateLimited)
	err := askModel(t.Context(), t, p.Model, modelHello(), nil).mustFail(t)
	if err.Status != http.StatusTooManyRequests || err.After != 7*time.Second || err.Permanent() {
		t.Errorf("status %d, after %s, permanent %t", err.Status, err.After, err.Permanent())
	}
	wantOneRequest(t, p)
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

func (s modelSuite) streamError(t *testing.T) { s.broken(t, ModelStreamError) }

func (s modelSuite) cut(t *testing.T) { s.broken(t, ModelCut) }

func (s modelSuite) noFinish(t *testing.T) { s.broken(t, ModelNoFinish) }

func (s modelSuite) idle(t *testing.T) { s.broken(t, ModelIdle) }

// broken checks an answer that begins but does not end properly.
func (s modelSuite) broken(t *testing.T, scenario ModelScenario) {
	t.Helper()

	p := s.open(t, scenario)
	got := askModel(t.Context(), t, p.Model, modelHello(), nil)
	if err := got.mustFail(t); err.Permanent() {
		t.Errorf("%v is permanent", err)
	}
	if text := got.content.Text(); text != "Half" {
		t.Errorf("text %q before the error", text)
	}
	wantOneRequest(t, p)
}

func (s modelSuite) cancel(t *testing.T) {
	p := s.open(t, ModelHang)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := askModel(ctx, t, p.Model, modelHello(), func(event spool.ModelEvent) {
		if _, ok := event.(spool.TextDelta); ok {
			cancel()
		}
	})
	if !errors.Is(got.err, context.Canceled) {
		t.Errorf("got %v, want the context's error", got.err)
	}
	wantCallerGone(t, p)
}

func (s modelSuite) cancelBeforeWords(t *testing.T) {
	p := s.open(t, ModelHangAtOnce)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	got := askModel(ctx, t, p.Model, modelHello(), nil)
	if !errors.Is(got.err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", got.err)
	}
	if _, ok := errors.AsType[*spool.ModelError](got.err); ok {
		t.Errorf("the context's end is put on the provider: %v", got.err)
	}
}

func (s modelSuite) cancelledAlready(t *testing.T) {
	p := s.open(t, ModelText)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := askModel(ctx, t, p.Model, modelHello(), nil); !errors.Is(got.err, context.Canceled) {
		t.Errorf("got %v, want the context's error", got.err)
	}
}

func (s modelSuite) stopIterating(t *testing.T) {
	p := s.open(t, ModelHang)
	for event, err := range p.Model.Stream(t.Context(), modelHello()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := event.(spool.TextDelta); ok {
			break
		}
	}
	wantCallerGone(t, p)
}

// wantCallerGone waits until the provider sees that the caller has gone away.
func wantCallerGone(t *testing.T, p ModelPeer) {
	t.Helper()

	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-p.Gone:
	case <-timer.C:
		t.Error("the request goes on")
	}
}

// wantOneRequest checks that the model has not retried.
func wantOneRequest(t *testing.T, p ModelPeer) {
	t.Helper()

	if n := len(p.Requests()); n != 1 {
		t.Errorf("the provider got %d requests, want 1", n)
	}
}
