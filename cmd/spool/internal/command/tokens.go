package command

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/server/access"
)

// tokensEvery is how often a request checks the file of the tokens.
const tokensEvery = time.Second

// newTokens returns the authenticator of the configuration's tokens, and the reader that reloads them
// from the file at path. Path is empty if no file has the tokens.
func newTokens(
	c *config.Config, path string, lookup func(string) (string, bool),
) (access.Authenticator, *tokenFile, error) {
	list, err := access.Tokens(tokenList(c.Tokens))
	if err != nil || path == "" {
		return list, nil, err
	}
	f := &tokenFile{TokenList: list, path: path, lookup: lookup, log: slog.New(slog.DiscardHandler), now: time.Now}
	f.seen, _ = stampOf(path)
	return f, f, nil
}

// tokenList converts the tokens of a configuration to the server's.
func tokenList(tokens []config.Token) []access.Token {
	list := make([]access.Token, len(tokens))
	for i, t := range tokens {
		list[i] = access.Token{Token: t.Token, SHA256: t.SHA256, Principal: access.Principal{
			Tenant: t.Tenant, Subject: t.Subject, Operator: t.Operator, AllThreads: t.AllThreads, Until: t.Expires,
		}}
		for _, scope := range t.Scopes {
			list[i].Scopes = append(list[i].Scopes, access.Scope(scope))
		}
	}
	return list
}

// tokenFile authenticates by the tokens of a configuration file, and reads them again when the file has
// changed. If the new file has mistakes, the tokens stay unchanged.
type tokenFile struct {
	*access.TokenList

	path   string
	lookup func(string) (string, bool)
	log    *slog.Logger
	now    func() time.Time

	looked atomic.Int64 // the time of the last look at the file, in Unix nanoseconds
	mu     sync.Mutex
	seen   stamp
}

// stamp identifies a state of a file.
type stamp struct {
	modified time.Time
	size     int64
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.ModTime(), info.Size()}, nil
}

// Authenticate implements [access.Authenticator].
func (f *tokenFile) Authenticate(r *http.Request) (access.Principal, error) {
	f.look(r.Context())
	return f.TokenList.Authenticate(r)
}

// Vouch implements [access.Voucher].
func (f *tokenFile) Vouch(ctx context.Context, credentials string) (context.Context, bool) {
	f.look(ctx)
	return f.TokenList.Vouch(ctx, credentials)
}

// Holder returns the principal with these credentials, as the file has it now.
func (f *tokenFile) Holder(ctx context.Context, credentials string) (access.Principal, bool) {
	f.look(ctx)
	return f.TokenList.Holder(ctx, credentials)
}

// look reads the file again if it changed, and nobody has looked just now.
func (f *tokenFile) look(ctx context.Context) {
	now, last := f.now().UnixNano(), f.looked.Load()
	if now-last < int64(tokensEvery) || !f.looked.CompareAndSwap(last, now) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := stampOf(f.path)
	if err != nil || at == f.seen { // a file that is being replaced exists again in a moment
		return
	}
	f.read(ctx, at)
}

// reread reads the file again.
func (f *tokenFile) reread(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, _ := stampOf(f.path)
	f.read(ctx, at)
}

func (f *tokenFile) read(ctx context.Context, at stamp) {
	f.seen = at
	c, err := config.Load(f.path, f.lookup)
	switch {
	case err != nil:
	case len(c.Tokens) == 0:
		err = errors.New("auth.tokens is gone, which needs a restart")
	default:
		err = f.Replace(tokenList(c.Tokens))
	}
	if err != nil {
		f.log.ErrorContext(ctx, "the tokens stay as they were: the configuration is wrong", "file", f.path, "error", err)
		return
	}
	f.log.InfoContext(ctx, "the tokens were read again", "file", f.path, "tokens", len(c.Tokens))
}

// watch reads the file again at each SIGHUP, until ctx ends.
func (f *tokenFile) watch(ctx context.Context) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(done)
		for {
			select {
			case <-signals:
				f.reread(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		cancel()
		<-done
	}
}
