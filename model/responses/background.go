package responses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/openaiwire"
)

const (
	// maxSilent is how many connections to a background answer in a row may break without an event, and
	// maxBroken how many may break in all. After that the model polls.
	maxSilent = 3
	maxBroken = 20
	// The pauses between two connections or polls double from minPause to maxPause.
	minPause = 250 * time.Millisecond
	maxPause = 10 * time.Second
	// maxFailures is how many polls in a row may fail.
	maxFailures = 5
	// cancelTimeout bounds the request that cancels an answer.
	cancelTimeout = 5 * time.Second
)

// validID matches the ids of responses that may be part of a URL.
var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// point is the data of a [spool.ResumePoint].
type point struct {
	ID string `json:"id"`
	// After is the number of the last event that the engine does not need again.
	After int64  `json:"after"`
	Model string `json:"model"`
	Host  string `json:"host"`
}

type pointEnvelope struct {
	Responses *point `json:"responses"`
}

// point returns the data with which another process comes back to the answer.
func (a *answer) point() json.RawMessage {
	return encode(pointEnvelope{&point{ID: a.id, After: a.after, Model: a.model.config.Model, Host: a.conn.Host}})
}

// resume yields an answer that another call has begun. The stream begins after the point, which is before the
// first piece.
func (a *answer) resume(ctx context.Context, data json.RawMessage) error {
	var e pointEnvelope
	if json.Unmarshal(data, &e) != nil || e.Responses == nil || !validID.MatchString(e.Responses.ID) {
		return &spool.ModelError{Message: "the resume point is not one of a response", Gone: true}
	}
	p := e.Responses
	if p.Model != a.model.config.Model || p.Host != a.conn.Host {
		return &spool.ModelError{Message: "another model has the response " + p.ID, Gone: true}
	}
	a.background, a.resumed, a.id, a.after = true, true, p.ID, p.After
	return a.reconnect(ctx, cutOff("the answer was interrupted"))
}

// reconnect continues a background answer whose connection broke: it attaches again after the last event, or polls if
// the server does not allow that. It returns err unchanged if err is another error, or if the provider has dropped the
// answer.
func (a *answer) reconnect(ctx context.Context, err error) error {
	if _, cut := errors.AsType[*cutError](err); !cut || !a.background || a.id == "" {
		return err
	}
	if a.after < 0 && len(a.items) > 0 {
		return a.poll(ctx) // the server does not number its events, so some would come twice
	}
	a.again = true
	pause := newPauses()
	for broken, silent := 0, 0; silent < maxSilent && broken < maxBroken; broken++ {
		if broken > 0 {
			if err := pause.wait(ctx, 0); err != nil {
				return err
			}
		}
		before := a.after
		in, err := a.attach(ctx)
		switch {
		case err != nil && (ctx.Err() != nil ||
			hasStatus(err, http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden)):
			return lost(err)
		case err != nil: // streaming is refused, or the server is not well
			return a.poll(ctx)
		}
		err = a.listen(in)
		if _, cut := errors.AsType[*cutError](err); !cut {
			return err
		}
		silent++
		if a.after > before {
			silent, pause = 0, newPauses()
		}
	}
	return a.poll(ctx)
}

// poll asks for the answer until it is complete.
func (a *answer) poll(ctx context.Context) error {
	pause, failures, began := newPauses(), 0, time.Now()
	for {
		r, err := a.look(ctx)
		var after time.Duration
		switch {
		case err == nil && !r.inProgress():
			if err := a.end(r); !errors.Is(err, errBufferFull) {
				return err
			}
			return a.overflow()
		case err == nil:
			failures = 0
			if limit := a.model.config.BackgroundTimeout; limit > 0 && time.Since(began) > limit {
				return &spool.ModelError{Message: fmt.Sprintf("the response %s was still %s after %s", a.id, r.Status, limit)}
			}
		case ctx.Err() != nil || permanent(err):
			return lost(err)
		default:
			if failures++; failures == maxFailures {
				return err
			}
			if e, ok := errors.AsType[*spool.ModelError](err); ok {
				after = min(e.After, time.Minute)
			}
		}
		if err := pause.wait(ctx, after); err != nil {
			return err
		}
	}
}

// look returns the present state of the answer.
func (a *answer) look(ctx context.Context) (*response, error) {
	in, err := a.fetch(ctx, url.Values{})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readResponse(in)
}

// attach opens the stream of the answer after the last event.
func (a *answer) attach(ctx context.Context) (*openaiwire.Answer, error) {
	query := url.Values{"stream": {"true"}}
	if a.after >= 0 {
		query.Set("starting_after", strconv.FormatInt(a.after, 10))
	}
	return a.fetch(ctx, query)
}

// fetch asks for the answer, with its reasoning encrypted.
func (a *answer) fetch(ctx context.Context, query url.Values) (*openaiwire.Answer, error) {
	if !a.model.config.NoEncryptedReasoning {
		query.Set("include[]", "reasoning.encrypted_content")
	}
	return a.conn.Open(ctx, http.MethodGet, a.model.url(a.id, query), nil)
}

func hasStatus(err error, statuses ...int) bool {
	e, ok := errors.AsType[*spool.ModelError](err)
	return ok && slices.Contains(statuses, e.Status)
}

func permanent(err error) bool {
	e, ok := errors.AsType[*spool.ModelError](err)
	return ok && e.Permanent()
}

// lost returns the error of a request for the answer. Only a 404 says that the provider no longer has it.
func lost(err error) error {
	if e, ok := errors.AsType[*spool.ModelError](err); ok && e.Status == http.StatusNotFound {
		e.Gone = true
	}
	return err
}

// pauses are the pauses between requests.
type pauses struct{ next time.Duration }

func newPauses() *pauses { return &pauses{minPause} }

// wait waits for the next pause, or for d if that is longer. It returns ctx's error if ctx ends before.
func (p *pauses) wait(ctx context.Context, d time.Duration) error {
	d = max(d, p.next)
	p.next = min(2*p.next, maxPause)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cancelStopped asks the provider to end an answer that nobody wants any more, so that it is not paid for. A
// context that ends for another reason leaves the answer to the next process. It does not wait.
func (a *answer) cancelStopped(ctx context.Context) {
	if !a.background || a.id == "" || a.finished || ctx.Err() == nil || !errors.Is(context.Cause(ctx), spool.ErrStopped) {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
		defer cancel()
		if in, err := a.conn.Open(ctx, http.MethodPost, a.model.url(a.id+"/cancel", nil), nil); err == nil {
			in.Close()
		}
	}()
}
