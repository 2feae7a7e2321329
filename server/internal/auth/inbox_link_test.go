package auth

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// A link works until its time, which is signed. A key that only checks opens it too.
func TestInboxLinkExpires(t *testing.T) {
	t.Parallel()

	a, _ := signing(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	grant := LinkGrant{
		Tenant: "a", Thread: "t1", Call: "c1", Digest: "sha256:1", Approver: "cleo", MadeBy: "anna",
		Until: time.Now().Add(time.Hour).Unix(), CreatedAt: 7,
	}
	token := a.SignLink(access.Principal{Tenant: "a"}, grant)
	if got, err := a.OpenLink(r, token); err != nil || got != grant {
		t.Errorf("%+v, %v", got, err)
	}
	past := grant
	past.Until = time.Now().Unix()
	token = a.SignLink(access.Principal{}, past)
	if got, err := a.OpenLink(r, token); spool.CodeOf(err) != spool.Gone || got != (LinkGrant{}) {
		t.Errorf("an expired link: %+v, %v", got, err)
	}

	token = a.SignLink(access.Principal{}, grant)
	a.keys = [][]byte{bytes.Repeat([]byte("n"), 32), a.keys[0]}
	if _, err := a.OpenLink(r, token); err != nil {
		t.Errorf("a link of the key before: %v", err)
	}
	a.keys = a.keys[:1]
	if _, err := a.OpenLink(r, token); spool.CodeOf(err) != spool.Forbidden {
		t.Errorf("a link of a key that is gone: %v", err)
	}
	artifact, _ := a.SignArtifact(access.Principal{Tenant: "a"}, wire.Thread{ID: "t1"}, signedArtifact, time.Hour)
	stream, _ := a.StreamToken(access.Principal{Tenant: "a"}, wire.Thread{ID: "t1"})
	for _, other := range []string{artifact, stream, "", "."} {
		if _, err := a.OpenLink(r, other); spool.CodeOf(err) != spool.Forbidden {
			t.Errorf("a token of another use: %v", err)
		}
	}
	link := a.SignLink(access.Principal{}, grant)
	if _, signed := a.sealed(artifactURLUse, link); signed {
		t.Error("a link opens an artifact")
	}
}
