package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/internal/testing/testwait"
)

func TestArtifacts(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the operations")
	run(t, c, client.RunRequest{ThreadID: "t1", Prompt: "Hello"})
	text := strings.Repeat("1;2\n", 100_000)
	want := spool.NewArtifact{Name: "a b.csv", MediaType: "text/csv"}
	var saved spool.Artifact
	for range 2 {
		want.Data = io.MultiReader(strings.NewReader(text)) // its length is not known
		again := must(c.UploadArtifact(ctx, "t1", want))(t)
		if again.Name != "a b.csv" || again.MediaType != "text/csv" || again.Size != int64(len(text)) ||
			saved.ID != "" && again != saved {
			t.Fatalf("got %+v, before %+v", again, saved)
		}
		saved = again
	}
	a, data, err := c.OpenArtifact(ctx, "t1", saved.ID)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(data)
	if closed := data.Close(); err != nil || closed != nil || string(got) != text || a.Name != saved.Name ||
		a.MediaType != saved.MediaType {
		t.Errorf("%+v with %d bytes: %v, %v", a, len(got), err, closed)
	}
	signed := must(c.ArtifactURL(ctx, "t1", saved.ID, time.Minute))(t)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, signed.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != string(got) ||
		time.Until(signed.ExpiresAt) > time.Minute {
		t.Errorf("the URL: %d, %d bytes, %v", res.StatusCode, len(text), err)
	}

	if _, err := c.UploadArtifact(ctx, "none", spool.NewArtifact{}); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("upload to no thread: %v", err)
	}
	if _, _, err := c.OpenArtifact(ctx, "t1", "art_none"); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("no artifact: %v", err)
	}
	if _, err := c.ArtifactURL(ctx, "t1", saved.ID, time.Hour+1); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("a long URL: %v", err)
	}
}
