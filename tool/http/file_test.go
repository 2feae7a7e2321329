package httptool_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	httptool "github.com/spoolhq/spool/tool/http"
)

// saves is a call that saves files in the given slice.
func saves(files *[]spool.NewArtifact, data *[]string) spool.ToolCall {
	return spool.ToolCall{
		RunID: "run", Step: 1, ID: "c1",
		SaveArtifactFunc: func(_ context.Context, f spool.NewArtifact) (spool.Artifact, error) {
			text, err := io.ReadAll(f.Data)
			*files, *data = append(*files, f), append(*data, string(text))
			return spool.Artifact{ID: "art_1", Name: f.Name, MediaType: f.MediaType, Size: int64(len(text))}, err
		},
	}
}

// An answer that is a file becomes an artifact, with the name that the server gives, and without secrets.
func TestFiles(t *testing.T) {
	t.Parallel()

	const body = "\x89PNG\r\n\x1a\n sesame-street"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png; x=1")
		if name := r.URL.Query().Get("name"); name != "" {
			w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
		}
		_, _ = io.WriteString(w, body)
	})
	for path, name := range map[string]string{"/a/chart.png": "chart.png", "/?name=../b.png": "b.png", "/": ""} {
		tl := open(t, httptool.Config{
			URL: s.URL + path, Egress: loopback, Headers: map[string]string{"Authorization": "Bearer sesame-street"},
		})
		var files []spool.NewArtifact
		var data []string
		got, err := tl.Call(t.Context(), saves(&files, &data))
		if err != nil || len(files) != 1 || files[0].Name != name || files[0].MediaType != "image/png" ||
			!strings.HasSuffix(data[0], "[redacted]") {
			t.Fatalf("%s: %+v of %q, %v", path, files, data, err)
		}
		if !strings.HasPrefix(string(got), `{"artifact":{"id":"art_1"`) {
			t.Errorf("%s: got %s", path, got)
		}
	}

	full := saves(new([]spool.NewArtifact), new([]string))
	full.SaveArtifactFunc = func(context.Context, spool.NewArtifact) (spool.Artifact, error) {
		return spool.Artifact{}, &spool.Error{Code: spool.StorageFull, Message: "no room", Err: errors.New("secret")}
	}
	_, err := open(t, httptool.Config{URL: s.URL, Egress: loopback}).Call(t.Context(), full)
	if spool.CodeOf(err) != spool.StorageFull ||
		spool.MessageOf(err) != "the tool was executed, but its answer, a file, was not saved: no room" {
		t.Errorf("no room: %v", err)
	}
}

// The name of a file has no secret: its URL may end with a key.
func TestFileNameSecret(t *testing.T) {
	t.Parallel()

	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/sesame-street")
		_, _ = io.WriteString(w, "\x89\x00")
	})
	tl := open(t, httptool.Config{URL: s.URL + "/sesame-street", Egress: loopback, Secrets: []string{"sesame-street"}})
	var files []spool.NewArtifact
	got, err := tl.Call(t.Context(), saves(&files, new([]string)))
	if err != nil || strings.Contains(string(got), "sesame") || files[0].Name != "[redacted]" ||
		files[0].MediaType != "application/[redacted]" {
		t.Errorf("got %s, saved %+v, %v", got, files, err)
	}
}

// The beginning of an error's body ends before a secret that would be there in part.
func TestErrorBodySecret(t *testing.T) {
	t.Parallel()

	for _, before := range []int{0, 1730, 1735, 1740, 1745, 1750, 5000} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, strings.Repeat("sesame-street", 20)+strings.Repeat("a", before)+"sesame-street")
		})
		_, err := open(t, httptool.Config{URL: s.URL, Egress: loopback, Secrets: []string{"sesame-street"}}).Call(t.Context(),
			spool.ToolCall{})
		if text := spool.MessageOf(err); strings.Contains(text, "sesa") || len(text) > 2100 ||
			!strings.Contains(text, "[redacted]") {
			t.Errorf("%d: %s", before, text)
		}
	}
}

// An engine that stores large results takes longer answers.
func TestLongAnswers(t *testing.T) {
	t.Parallel()

	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 300<<10)) })
	files, plain := saves(new([]spool.NewArtifact), new([]string)), spool.ToolCall{RunID: "run", Step: 1, ID: "c1"}
	stores := files
	stores.StoresResults = true
	for name, c := range map[string]struct {
		config httptool.Config
		call   spool.ToolCall
		code   spool.Code
	}{
		"plain":   {httptool.Config{}, plain, spool.Limit},
		"files":   {httptool.Config{}, files, spool.Limit},
		"stores":  {httptool.Config{}, stores, ""},
		"bounded": {httptool.Config{MaxResultBytes: 200 << 10}, stores, spool.Limit},
	} {
		c.config.URL, c.config.Egress = s.URL, loopback
		if _, err := open(t, c.config).Call(t.Context(), c.call); spool.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}
