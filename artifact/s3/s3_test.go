package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact/s3"
	fake "github.com/spoolhq/spool/internal/testing/fake/s3"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

func serve(t *testing.T, secure bool) (*fake.Server, s3.Options) {
	t.Helper()
	server := fake.Open(secure)
	t.Cleanup(server.Close)
	return server, s3.Options{
		Endpoint: server.URL, Bucket: server.Bucket, Prefix: "spool/", AccessKey: server.AccessKey,
		SecretKey: server.SecretKey, Insecure: !secure, Transport: server.Client().Transport,
	}
}

func open(t *testing.T, o s3.Options) *s3.Blobs {
	t.Helper()
	b, err := s3.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBlobs(t *testing.T) {
	t.Parallel()

	for name, secure := range map[string]bool{"HTTP": false, "HTTPS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spooltest.TestBlobs(t, func(t *testing.T) store.Blobs {
				t.Helper()
				_, o := serve(t, secure)
				return open(t, o)
			})
		})
	}
}

// Open names the option that is wrong, and no error has a secret.
func TestOpenRefused(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(server *fake.Server, o *s3.Options)
		code   spool.Code
		says   string
	}{
		"no endpoint":  {func(_ *fake.Server, o *s3.Options) { o.Endpoint = "" }, spool.Invalid, "Endpoint"},
		"no URL":       {func(_ *fake.Server, o *s3.Options) { o.Endpoint = "localhost:9000" }, spool.Invalid, "Endpoint"},
		"path":         {func(_ *fake.Server, o *s3.Options) { o.Endpoint += "/bucket" }, spool.Invalid, "Endpoint"},
		"plain":        {func(_ *fake.Server, o *s3.Options) { o.Insecure = false }, spool.Invalid, "Insecure"},
		"no bucket":    {func(_ *fake.Server, o *s3.Options) { o.Bucket = "" }, spool.Invalid, "Bucket"},
		"bad bucket":   {func(_ *fake.Server, o *s3.Options) { o.Bucket = "A/b" }, spool.Invalid, "Bucket"},
		"other bucket": {func(_ *fake.Server, o *s3.Options) { o.Bucket = "other" }, spool.Invalid, "Bucket"},
		"prefix":       {func(_ *fake.Server, o *s3.Options) { o.Prefix = "a/../b/" }, spool.Invalid, "Prefix"},
		"region":       {func(_ *fake.Server, o *s3.Options) { o.Region = "us-west-1" }, spool.Invalid, "Region"},
		"access":       {func(_ *fake.Server, o *s3.Options) { o.AccessKey = "AKIDOTHER" }, spool.Invalid, "AccessKey"},
		"half":         {func(_ *fake.Server, o *s3.Options) { o.SecretKey = "" }, spool.Invalid, "SecretKey"},
		"secret":       {func(_ *fake.Server, o *s3.Options) { o.SecretKey += "x" }, spool.Invalid, "SecretKey"},
		"rights":       {func(s *fake.Server, _ *s3.Options) { s.Denies = true }, spool.Invalid, "AccessKey"},
		"no list":      {func(s *fake.Server, _ *s3.Options) { s.NoList = true }, spool.Invalid, "AccessKey"},
		"clock":        {func(s *fake.Server, _ *s3.Options) { s.Skew = time.Hour }, spool.Invalid, "clock"},
		"busy":         {func(s *fake.Server, _ *s3.Options) { s.Busy = 1000 }, spool.Unavailable, "failed"},
		"transport":    {func(_ *fake.Server, o *s3.Options) { o.Transport = forbidding{} }, spool.Forbidden, "Endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, o := serve(t, false)
			server.Change(func() { server.Repeats = true; c.change(server, &o) })
			_, err := s3.Open(t.Context(), o)
			if spool.CodeOf(err) != c.code || !strings.Contains(spool.MessageOf(err), c.says) {
				t.Fatalf("%v", err)
			}
			if text := err.Error(); strings.Contains(text, server.SecretKey) || strings.Contains(text, "Signature=") {
				t.Errorf("a secret: %s", text)
			}
		})
	}
}

// forbidding is a transport that allows nothing.
type forbidding struct{}

func (forbidding) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, spool.Errorf(spool.Forbidden, "the host is not allowed")
}

const size = 3 << 20

var data = bytes.Repeat([]byte("0123456789abcdef"), size/16)

func put(t *testing.T, b *s3.Blobs) {
	t.Helper()
	if err := b.PutBlob(t.Context(), "a", bytes.NewReader(data), size); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, b *s3.Blobs) ([]byte, error) {
	t.Helper()
	r, err := b.OpenBlob(t.Context(), "a")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// An answer that ends early, or has no length, is an error and never the data.
func TestCut(t *testing.T) {
	t.Parallel()

	server, o := serve(t, false)
	b := open(t, o)
	put(t, b)
	for _, at := range []int{0, 1, 4096, size / 2, size - 1} {
		server.Change(func() { server.Cut, server.CutAt = 1, at })
		got, err := read(t, b)
		if !spool.Retryable(err) || len(got) > at {
			t.Errorf("cut at %d: %d bytes, %v", at, len(got), err)
		}
	}
	server.Change(func() { server.Cut, server.Unsized = 0, true })
	if _, err := read(t, b); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("without a length: %v", err)
	}
	server.Change(func() { server.Unsized = false })
	if got, err := read(t, b); err != nil || !bytes.Equal(got, data) {
		t.Errorf("uncut: %d bytes, %v", len(got), err)
	}
}

// plain hides that a reader can be read again.
type plain struct{ io.Reader }

// A service that is busy, drops connections or loses an answer is asked again, with the same data.
func TestAskedAgain(t *testing.T) {
	t.Parallel()

	for name, fault := range map[string]func(s *fake.Server){
		"busy": func(s *fake.Server) { s.Busy = 2 }, "unread": func(s *fake.Server) { s.Busy, s.Unread = 2, true },
		"broken": func(s *fake.Server) { s.Broken = 2 }, "lost": func(s *fake.Server) { s.Lost = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, o := serve(t, false)
			b := open(t, o)
			server.Change(func() { fault(server) })
			put(t, b)
			server.Change(func() { fault(server); server.Lost = 0 })
			if got, err := read(t, b); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			server.Change(func() { server.Busy, server.Broken = 0, 0; fault(server) })
			small := strings.Repeat("x", 1000)
			if err := b.PutBlob(t.Context(), "small", plain{strings.NewReader(small)}, 1000); err != nil {
				t.Error(err)
			}
			if err := b.DeleteBlob(t.Context(), "a"); err != nil {
				t.Error(err)
			}
			if names := server.Objects(); !slices.Equal(names, []string{"spool/small"}) {
				t.Errorf("the objects are %q", names)
			}
		})
	}
}

// Data that can be read once only are sent once. The error says that another put may succeed.
func TestOnce(t *testing.T) {
	t.Parallel()

	server, o := serve(t, false)
	b := open(t, o)
	server.Change(func() { server.Lost = 1; server.Repeats = true })
	if err := b.PutBlob(t.Context(), "a", plain{bytes.NewReader(data)}, size); !spool.Retryable(err) {
		t.Errorf("a lost answer: %v", err)
	}
	if got, err := read(t, b); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	put(t, b)
	server.Change(func() { server.Denies = true })
	for name, err := range map[string]error{
		"put": b.PutBlob(t.Context(), "b", strings.NewReader("x"), 1), "delete": b.DeleteBlob(t.Context(), "a"),
		"open": func() error { _, err := b.OpenBlob(t.Context(), "a"); return err }(),
	} {
		if !spool.Retryable(err) || strings.Contains(err.Error(), server.SecretKey) ||
			strings.Contains(err.Error(), "Signature=") {
			t.Errorf("%s: %v", name, err)
		}
	}
	server.Change(func() { server.Denies, server.Missing404 = false, true })
	if err := b.DeleteBlob(t.Context(), "never"); err != nil {
		t.Errorf("a missing object: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.OpenBlob(gone, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone: %v", err)
	}
}

// Without keys, those of the environment sign.
func TestEnvironment(t *testing.T) {
	server, o := serve(t, false)
	t.Setenv("AWS_ACCESS_KEY_ID", o.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", o.SecretKey)
	o.AccessKey, o.SecretKey = "", ""
	put(t, open(t, o))
	if names := server.Objects(); !slices.Equal(names, []string{"spool/a"}) {
		t.Errorf("the objects are %q", names)
	}
}
