package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// start runs the program, and returns its address, how it is told to stop, and how it ended.
func start(t *testing.T, args ...string) (base string, stop func(), ended <-chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, append([]string{"-addr", "127.0.0.1:0"}, args...), in)
		_ = in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-done)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return regexp.MustCompile(`http://[0-9.:]+`).FindString(line), stop, done
}

// TestProgramStops has a client that follows the prices when the program is told to stop.
func TestProgramStops(t *testing.T) {
	t.Parallel()

	base, stop, ended := start(t)
	v := visitor{t: t, base: base, header: http.Header{}}
	prices := v.events("/prices")
	stop()
	if event, more := hear(t, prices); more {
		t.Errorf("an event %q of a shop that is closed", event)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestFileIsKept starts the program twice on one file.
func TestFileIsKept(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "shop.db")
	for i, want := range []int64{949, 949} {
		base, stop, ended := start(t, "-db", file)
		v := visitor{t: t, base: base, header: http.Header{}, key: demoKey}
		if i == 0 {
			v.send(http.MethodPatch, "/books/1", map[string]any{"price": want}).expect(http.StatusOK)
		}
		if got := decode[Book](v.get("/books/1").expect(http.StatusOK)); got.Price != want {
			t.Errorf("price %d, want %d", got.Price, want)
		}
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	if err := run(t.Context(), []string{"openapi"}, &out); err != nil {
		t.Fatal(err)
	}
	served := open(t).get("/openapi.json").expect(http.StatusOK)
	if diff := cmp.Diff(strings.TrimSpace(string(served.body)), strings.TrimSpace(out.String())); diff != "" {
		t.Error(diff)
	}
	for _, args := range [][]string{{"dance"}, {"-dance"}, {"-addr", "nowhere"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q is no mistake", args)
		}
	}
	if _, err := secretFrom("short"); err == nil {
		t.Error("a short secret is no mistake")
	}
}
