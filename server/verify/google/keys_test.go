package google_test

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
)

// However many forged tokens come, keys are loaded once in ten seconds.
func TestKeysFlood(t *testing.T) {
	t.Parallel()

	b := setup(t)
	forged := good()
	forged.key = keys()[2]
	text := forged.text(t)
	for range 50 {
		expect(t, b.verifier.Verify(request(t, text), nil), "signature is invalid")
	}
	if n := b.provider.count(); n != 1 {
		t.Errorf("50 forged tokens made %d loads", n)
	}
	b.clock.advance(10 * time.Second)
	for range 50 {
		expect(t, b.verifier.Verify(request(t, text), nil), "signature is invalid")
	}
	if n := b.provider.count(); n != 2 {
		t.Errorf("ten seconds later there were %d loads", n)
	}
	expect(t, b.verify(t, good()), "")
}

// Without keys nothing is good, and nothing is said about the delivery.
func TestKeysUnavailable(t *testing.T) {
	t.Parallel()

	weak, err := json.Marshal(map[string]any{
		"keys": []object{{"kty": "RSA", "n": encode(keys()[0].N.Bytes()[:64]), "e": "AQAB"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	published := string(keySet(keys()[0]))
	for name, change := range map[string]func(p *provider){
		"Unreachable":   func(p *provider) { p.failure = errNetwork },
		"Refused":       func(p *provider) { p.status = http.StatusInternalServerError },
		"Redirected":    func(p *provider) { p.status = http.StatusFound },
		"NoJSON":        func(p *provider) { p.answer = "<html>" },
		"NoKeys":        func(p *provider) { p.answer = `{"keys":[]}` },
		"WeakKey":       func(p *provider) { p.answer = string(weak) },
		"ForEncryption": func(p *provider) { p.answer = strings.ReplaceAll(published, `"sig"`, `"enc"`) },
		"OtherAlg":      func(p *provider) { p.answer = strings.ReplaceAll(published, "RS256", "RS512") },
		"OtherKind":     func(p *provider) { p.answer = strings.ReplaceAll(published, `"RSA"`, `"oct"`) },
		"Exponent":      func(p *provider) { p.answer = strings.ReplaceAll(published, "AQAB", "AQ") },
		"LongExponent":  func(p *provider) { p.answer = strings.ReplaceAll(published, "AQAB", "AQABAQABAQAB") },
		"Modulus":       func(p *provider) { p.answer = strings.ReplaceAll(published, `"n":"`, `"n":"?`) },
		"TooLong":       func(p *provider) { p.answer = published[:len(published)-1] + strings.Repeat(" ", 256<<10) + "}" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.provider.set(change)
			for range 2 {
				err := b.verify(t, good())
				if spool.CodeOf(err) != spool.Unavailable || spool.MessageOf(err) != "the keys of Google cannot be loaded" {
					t.Errorf("Verify = %v", err)
				}
			}
			if n := b.provider.count(); n != 1 {
				t.Errorf("there were %d loads", n)
			}
			// It goes on by itself.
			b.provider.set(func(p *provider) { p.failure, p.status, p.answer = nil, 0, "" })
			b.clock.advance(10 * time.Second)
			expect(t, b.verify(t, good()), "")
		})
	}
}

// While Google cannot be reached, the keys that are there are used, for a day.
func TestKeysStale(t *testing.T) {
	t.Parallel()

	b, k := setup(t), good()
	k.claim("exp", now+86_400*2)
	expect(t, b.verify(t, k), "")
	b.provider.set(func(p *provider) { p.failure = errNetwork })
	b.clock.advance(24*time.Hour - time.Second)
	expect(t, b.verify(t, k), "")
	if n := b.provider.count(); n != 2 {
		t.Errorf("there were %d loads", n)
	}
	b.clock.advance(time.Second)
	if err := b.verify(t, k); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("a day later, Verify = %v", err)
	}
}

// Deliveries that come together wait for one load. One that goes away does not end it for
// the others.
func TestKeysTogether(t *testing.T) {
	t.Parallel()

	text := good().text(t)
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		block := make(chan struct{})
		b.provider.set(func(p *provider) { p.block = block })
		impatient, leave := context.WithCancel(t.Context())
		var (
			all sync.WaitGroup
			mu  sync.Mutex
			bad []error
		)
		verify := func(r *http.Request) {
			if err := b.verifier.Verify(r, nil); err != nil {
				mu.Lock()
				defer mu.Unlock()
				bad = append(bad, err)
			}
		}
		all.Go(func() { verify(request(t, text).WithContext(impatient)) })
		synctest.Wait() // it is the one that loads
		for range 8 {
			all.Go(func() { verify(request(t, text)) })
		}
		waiting, give := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { gone <- b.verifier.Verify(request(t, text).WithContext(waiting), nil) }()
		synctest.Wait()
		give()
		if err := <-gone; err == nil {
			t.Error("a delivery that did not wait for the keys was let through")
		}
		leave()
		synctest.Wait()
		close(block)
		all.Wait()
		if len(bad) > 0 || b.provider.count() != 1 {
			t.Errorf("%d loads, and %v", b.provider.count(), bad)
		}
	})
}

// A load that hangs is given up, and the keys that are there go on being used.
func TestKeysHang(t *testing.T) {
	t.Parallel()

	text := good().text(t)
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.provider.set(func(p *provider) { p.block = make(chan struct{}) })
		began := time.Now()
		if err := b.verifier.Verify(request(t, text), nil); spool.CodeOf(err) != spool.Unavailable {
			t.Errorf("Verify = %v", err)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %s", took)
		}
		b.provider.set(func(p *provider) { p.block, p.published = nil, []*rsa.PrivateKey{keys()[0]} })
		b.clock.advance(10 * time.Second)
		expect(t, b.verifier.Verify(request(t, text), nil), "")
	})
}
