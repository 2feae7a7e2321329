package spooltest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// TestArtifactStore checks that a store keeps the contract of [store.ArtifactStore]. Open is called once for each
// subtest, and returns an empty store.
func TestArtifactStore(t *testing.T, open func(t *testing.T) store.ArtifactStore) {
	t.Helper()
	for name, test := range map[string]func(s artifactSuite){
		"Saved": artifactSuite.saved, "Once": artifactSuite.once, "Foreign": artifactSuite.foreign,
		"Broken": artifactSuite.broken, "Deleted": artifactSuite.deleted, "Large": artifactSuite.large,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(artifactSuite{t, open(t)})
		})
	}
}

type artifactSuite struct {
	*testing.T

	db store.ArtifactStore
}

var artifactThread = spool.ThreadKey{Tenant: "acme", ID: "chat"}

func (s artifactSuite) save(key spool.ThreadKey, callKey, data string) spool.Artifact {
	s.Helper()
	a, err := s.db.SaveArtifact(s.Context(), key,
		spool.NewArtifact{Name: "ä.txt", MediaType: "text/plain", Data: strings.NewReader(data), Key: callKey})
	if err != nil {
		s.Fatal(err)
	}
	return a
}

func (s artifactSuite) list(key spool.ThreadKey) []spool.Artifact {
	s.Helper()
	all, err := s.db.Artifacts(s.Context(), key)
	if err != nil {
		s.Fatal(err)
	}
	return all
}

// has checks that the thread has the artifact with the data.
func (s artifactSuite) has(key spool.ThreadKey, want spool.Artifact, data string) {
	s.Helper()
	a, r, err := s.db.OpenArtifact(s.Context(), key, want.ID)
	if err != nil {
		s.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != data || a != want {
		s.Errorf("got %+v with %d bytes, %v, want %+v", a, len(got), err, want)
	}
}

func (s artifactSuite) saved() {
	for _, data := range []string{"hello", "", "\x00\xff"} {
		a := s.save(artifactThread, "k", data)
		if a.Name != "ä.txt" || a.MediaType != "text/plain" || a.Size != int64(len(data)) ||
			!strings.HasPrefix(string(a.ID), "art_") {
			s.Errorf("saved %+v", a)
		}
		s.has(artifactThread, a, data)
	}
	all := s.list(artifactThread)
	if len(all) != 3 || all[0].ID >= all[1].ID || all[1].ID >= all[2].ID {
		s.Errorf("the list is %+v", all)
	}
	if none := s.list(spool.ThreadKey{Tenant: "acme", ID: "other"}); len(none) > 0 {
		s.Errorf("another thread has %+v", none)
	}
}

// once saves the same data many times at once.
func (s artifactSuite) once() {
	var group sync.WaitGroup
	first := s.save(artifactThread, "k", "hello")
	for range 8 {
		group.Go(func() {
			a, err := s.db.SaveArtifact(s.Context(), artifactThread,
				spool.NewArtifact{Name: "b", MediaType: "text/csv", Data: strings.NewReader("hello"), Key: "k"})
			if err != nil || a != first {
				s.Errorf("got %+v, %v, want %+v", a, err, first)
			}
		})
	}
	group.Wait()
	if other := s.save(artifactThread, "l", "hello"); other.ID == first.ID {
		s.Error("two keys have one artifact")
	}
	if n := len(s.list(artifactThread)); n != 2 {
		s.Errorf("%d artifacts", n)
	}
}

// foreign asks for what a thread does not have.
func (s artifactSuite) foreign() {
	a := s.save(artifactThread, "k", "hello")
	for _, c := range []struct {
		key spool.ThreadKey
		id  spool.ArtifactID
	}{
		{spool.ThreadKey{Tenant: "acme", ID: "other"}, a.ID},
		{spool.ThreadKey{Tenant: "umbrella", ID: "chat"}, a.ID},
		{spool.ThreadKey{Tenant: "acme/chat", ID: ""}, a.ID},
		{artifactThread, "art_00000000000000000000000000000000"},
		{artifactThread, ""},
		{artifactThread, "../" + a.ID},
		{artifactThread, a.ID + "\x00"},
		{artifactThread, spool.ArtifactID(strings.Repeat("a", 5000))},
	} {
		if _, _, err := s.db.OpenArtifact(s.Context(), c.key, c.id); spool.CodeOf(err) != spool.NotFound {
			s.Errorf("%.100q of %v: %v", c.id, c.key, err)
		}
	}
}

// broken reads data that end with an error, and saves for a caller that has gone.
func (s artifactSuite) broken() {
	broken := errors.New("it broke")
	data := io.MultiReader(strings.NewReader("hel"), iotest.ErrReader(broken))
	if _, err := s.db.SaveArtifact(
		s.Context(), artifactThread, spool.NewArtifact{Data: data, Key: "k"},
	); !errors.Is(err, broken) {
		s.Errorf("got %v", err)
	}
	gone, cancel := context.WithCancel(s.Context())
	cancel()
	if _, err := s.db.SaveArtifact(
		gone, artifactThread, spool.NewArtifact{Data: strings.NewReader("x"), Key: "k"},
	); err == nil {
		s.Error("it saved for a caller that has gone")
	}
	if all := s.list(artifactThread); len(all) > 0 {
		s.Errorf("the thread has %+v", all)
	}
}

func (s artifactSuite) deleted() {
	a, kept := s.save(artifactThread, "k", "hello"), spool.ThreadKey{Tenant: "acme", ID: "kept"}
	other := s.save(kept, "k", "hello")
	for range 2 {
		if err := s.db.DeleteArtifacts(s.Context(), artifactThread); err != nil {
			s.Fatal(err)
		}
	}
	if _, _, err := s.db.OpenArtifact(s.Context(), artifactThread, a.ID); spool.CodeOf(err) != spool.NotFound ||
		len(s.list(artifactThread)) > 0 {
		s.Errorf("it is still there: %v", err)
	}
	s.has(kept, other, "hello")
	s.has(artifactThread, s.save(artifactThread, "k", "hello"), "hello")
}

func (s artifactSuite) large() {
	data := string(bytes.Repeat([]byte("0123456789abcdef"), 1<<16))
	s.has(artifactThread, s.save(artifactThread, "k", data), data)
}
