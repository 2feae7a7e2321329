package spool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

func TestErrorQuestions(t *testing.T) {
	t.Parallel()

	secret := errors.New("dial tcp 10.0.0.7: refused")
	for name, c := range map[string]struct {
		err       error
		code      spool.Code
		message   string
		retryable bool
	}{
		"Nil":  {nil, "", "Internal error", false},
		"Bare": {secret, spool.Internal, "Internal error", false},
		"Coded": {
			spool.Errorf(spool.Invalid, "%s is required", "prompt"), spool.Invalid, "prompt is required", false,
		},
		"Hidden": {
			&spool.Error{Code: spool.Unavailable, Message: "store failed", Err: secret}, spool.Unavailable, "store failed", true,
		},
		"Internal": {
			&spool.Error{Code: spool.Internal, Message: "step 3 of 4", Err: secret}, spool.Internal, "Internal error", false,
		},
		"Wrapped": {
			fmt.Errorf("claim run: %w", store.ErrFenced), spool.Fenced, "another worker owns the thread", false,
		},
		"Limit":    {spool.Errorf(spool.Limit, "too many"), spool.Limit, "too many", true},
		"Canceled": {fmt.Errorf("read: %w", context.Canceled), spool.Canceled, "Canceled", false},
		"Deadline": {context.DeadlineExceeded, spool.Canceled, "Canceled", false},
		"Outermost": {
			&spool.Error{Code: spool.NotFound, Message: "no thread", Err: store.ErrFenced}, spool.NotFound, "no thread", false,
		},
		"ModelBusy":       {fmt.Errorf("ask: %w", &spool.ModelError{Status: 503}), spool.Internal, "Internal error", true},
		"ModelBadRequest": {&spool.ModelError{Status: 400}, spool.Internal, "Internal error", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := spool.CodeOf(c.err); got != c.code {
				t.Errorf("code is %q, want %q", got, c.code)
			}
			if got := spool.MessageOf(c.err); got != c.message {
				t.Errorf("message is %q, want %q", got, c.message)
			}
			if got := spool.Retryable(c.err); got != c.retryable {
				t.Errorf("retryable is %v", got)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()

	err := &spool.Error{Code: spool.Unavailable, Message: "store failed", Err: io.ErrUnexpectedEOF}
	if got := err.Error(); got != "store failed: unexpected EOF" {
		t.Errorf("text is %q", got)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("what is behind an error is not found")
	}
	if got := spool.Errorf(spool.Invalid, "bad").Error(); got != "bad" {
		t.Errorf("text is %q", got)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()

	if err := spool.Wrap(spool.Unavailable, "store failed", nil); err != nil {
		t.Errorf("nothing is wrapped as %v", err)
	}
	err := spool.Wrap(spool.Unavailable, "store failed", io.EOF)
	if spool.CodeOf(err) != spool.Unavailable || !errors.Is(err, io.EOF) {
		t.Errorf("wrapped as %v", err)
	}
	err = spool.Wrap(spool.Unavailable, "store failed", fmt.Errorf("write: %w", store.ErrFenced))
	if spool.CodeOf(err) != spool.Fenced || !errors.Is(err, store.ErrFenced) || spool.MessageOf(err) != "store failed" {
		t.Errorf("a coded error is wrapped as %v", err)
	}
}

func TestModelErrorPermanent(t *testing.T) {
	t.Parallel()

	passing := map[int]bool{408: true, 409: true, 425: true, 429: true}
	for status := range 600 {
		want := 300 <= status && status < 500 && !passing[status]
		if got := (&spool.ModelError{Status: status}).Permanent(); got != want {
			t.Errorf("status %d: permanent is %v", status, got)
		}
	}
	if !(&spool.ModelError{Err: spool.Errorf(spool.Forbidden, "the address is not allowed")}).Permanent() {
		t.Error("an address that is not allowed is tried again")
	}
	for _, e := range []*spool.ModelError{{Status: 429, NoRetry: true}, {ContextOverflow: true}} {
		if !e.Permanent() {
			t.Errorf("%+v is retried", e)
		}
	}
	for want, err := range map[string]error{
		"model: overloaded (status 503)": &spool.ModelError{Status: 503, Message: "overloaded", Err: io.EOF},
		"model: cut off":                 &spool.ModelError{Message: "cut off"},
	} {
		if err.Error() != want {
			t.Errorf("text is %q, want %q", err, want)
		}
	}
	if !errors.Is(&spool.ModelError{Err: io.EOF}, io.EOF) {
		t.Error("what is behind a model error is not found")
	}
}

func TestRequestsAsErrors(t *testing.T) {
	t.Parallel()

	var park *spool.ParkRequest
	err := error(spool.ParkFor("job", map[string]int{"id": 7}, time.Minute))
	if !errors.As(err, &park) || park.Reason != "job" || park.TTL != time.Minute || err.Error() != "park the run: job" {
		t.Errorf("park is %+v, %v", park, err)
	}
	var retry *spool.RetryError
	err = spool.RetryAfter(3 * time.Second)
	if !errors.As(err, &retry) || retry.After != 3*time.Second || err.Error() != "retry after 3s" {
		t.Errorf("retry is %+v, %v", retry, err)
	}
}
