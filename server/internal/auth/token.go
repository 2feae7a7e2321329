package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

const (
	// minStreamTokenKey is the length in bytes of the shortest key.
	minStreamTokenKey = 32
	// streamTokenUse separates these signatures from those of other uses of the keys.
	streamTokenUse = "spool stream token 1\n"
	// streamTokenParam is the parameter with a token.
	streamTokenParam = "token"
	// maxStreamToken is longer than any token, in bytes.
	maxStreamToken = 4096
)

// streamGrant is the content of a token.
type streamGrant struct {
	Tenant  spool.Tenant   `json:"t"`
	Subject string         `json:"s,omitempty"`
	Thread  spool.ThreadID `json:"i"`
	// All lets the token open a thread of another subject.
	All bool `json:"a,omitempty"`
	// Until is when the token, and a stream that it has opened, end, in Unix seconds.
	Until int64 `json:"e"`
	// CreatedAt is when the thread was created, in microseconds since 1970. A thread that is created again
	// under the same id has another time.
	CreatedAt int64 `json:"m"`
	// Credentials are those of the principal that got the token.
	Credentials string `json:"c,omitempty"`
}

// tokenKeys returns the keys that sign and check tokens and URLs: those of the configuration, or one of the process's
// own.
func tokenKeys(keys [][]byte, ttl time.Duration) ([][]byte, error) {
	if ttl < time.Second {
		return nil, spool.Errorf(spool.Invalid, "Config.StreamTokenTTL must be a second or more")
	}
	if len(keys) == 0 {
		keys = [][]byte{make([]byte, minStreamTokenKey)}
		_, _ = rand.Read(keys[0]) // it never fails
	}
	return keys, CheckKeys(keys)
}

// CheckKeys returns an [spool.Invalid] error without a key, and for a key that is too short.
func CheckKeys(keys [][]byte) error {
	if len(keys) == 0 {
		return spool.Errorf(spool.Invalid, "Config.StreamTokenKeys is required")
	}
	for i, k := range keys {
		if len(k) < minStreamTokenKey {
			return spool.Errorf(spool.Invalid, "Config.StreamTokenKeys: key %d is shorter than %d bytes", i,
				minStreamTokenKey)
		}
	}
	return nil
}

// StreamToken returns a token that opens the stream of one thread for the principal, and when it ends, which
// is not after the end of the principal's own credentials, or when these are withdrawn. The first key signs, and any
// of them may have signed. A token ends with its thread: one of a deleted thread is refused, also when a thread of
// the same id is made.
func (a *Auth) StreamToken(p access.Principal, thread wire.Thread) (string, time.Time) {
	until := access.Earlier(time.Now().Add(a.config.TokenTTL).Truncate(time.Second), p.Until.Truncate(time.Second))
	text, _ := json.Marshal(streamGrant{ //nolint:errchkjson // texts and numbers
		Tenant: p.Tenant, Subject: p.Subject, Thread: thread.ID, All: p.AllThreads, Until: until.Unix(),
		CreatedAt: thread.CreatedAt.UnixMicro(), Credentials: p.Credentials,
	})
	payload := base64.RawURLEncoding.EncodeToString(text)
	return payload + "." + base64.RawURLEncoding.EncodeToString(sign(a.keys[0], streamTokenUse, payload)), until
}

// wrongStreamToken is the error of a token, whatever is wrong with it: an honest client does not need to
// know more.
func wrongStreamToken() error {
	return spool.Errorf(spool.Unauthorized, "the stream token is not valid here, or not any more")
}

// principal returns the principal that a token stands for.
func (g streamGrant) principal() access.Principal {
	return access.Principal{
		Tenant: g.Tenant, Subject: g.Subject, Scopes: []access.Scope{access.ScopeRead}, AllThreads: g.All,
	}
}

// open returns what a token says, if it is good for the thread of that id.
func (a *Auth) open(token string, thread spool.ThreadID) (g streamGrant, err error) {
	if len(token) > maxStreamToken {
		return g, wrongStreamToken()
	}
	payload, signature, _ := strings.Cut(token, ".")
	mac, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	signed := false
	for _, key := range a.keys {
		signed = hmac.Equal(mac, sign(key, streamTokenUse, payload)) || signed
	}
	if err != nil || !signed {
		return g, wrongStreamToken()
	}
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(text, &g) != nil { //nolint:forbidigo // signed by this server
		return g, wrongStreamToken()
	}
	if g.Thread != thread || !time.Now().Before(time.Unix(g.Until, 0)) {
		return g, wrongStreamToken()
	}
	return g, nil
}

func sign(key []byte, use, payload string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(use))
	mac.Write([]byte(payload))
	return mac.Sum(nil)
}

// tokenGate lets a caller in that has a token for the stream of the thread.
type tokenGate struct{ auth *Auth }

// Scheme implements [rest.Authenticator].
func (tokenGate) Scheme() rest.Scheme {
	return rest.Scheme{
		Name: "streamToken", Type: "apiKey", In: "query", Param: streamTokenParam,
		Description: "A token of POST /api/agent/stream-token, for clients that cannot send headers, such as an EventSource.",
	}
}

// Authenticate implements [rest.Authenticator].
func (g tokenGate) Authenticate(r *http.Request) (rest.Principal, error) {
	q := r.URL.Query()
	if q.Get(streamTokenParam) == "" {
		return nil, rest.ErrNoCredentials
	}
	grant, err := g.auth.open(q.Get(streamTokenParam), spool.ThreadID(q.Get("threadId")))
	if err != nil {
		return nil, refusedStreamToken(g.auth.Failed(r, FailedStream, err))
	}
	who := &call.Caller{Principal: grant.principal(), Ends: time.Unix(grant.Until, 0)}
	var vouched bool
	if who.Valid, vouched = g.auth.vouch(r.Context(), grant.Credentials); !vouched {
		return nil, refusedStreamToken(wrongStreamToken())
	}
	thread, err := g.auth.config.Engine.Thread(call.ActingAs(r.Context(), who.Principal), who.Key(grant.Thread))
	switch {
	case spool.CodeOf(err) == spool.NotFound, err == nil && thread.CreatedAt.UnixMicro() != grant.CreatedAt:
		return nil, refusedStreamToken(wrongStreamToken()) // nobody has guessed anything
	case err != nil:
		return nil, call.MapError(call.Settled(r.Context(), call.About(r.Context(), err, who.Key(grant.Thread), "")))
	}
	who.CreatedAt = thread.CreatedAt
	return who, nil
}

func refusedStreamToken(err error) error {
	e := call.MapError(err)
	if e.Status == http.StatusUnauthorized {
		e.Header = http.Header{"Www-Authenticate": {`Bearer realm="spool", error="invalid_token"`}}
	}
	return e
}
