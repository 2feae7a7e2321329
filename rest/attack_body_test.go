package rest_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spoolhq/spool/rest"
)

// The bound holds for handlers of net/http too, whether or not the length was said, and
// before the handler could do anything where it was.
func TestAttackBodyOfARawRoute(t *testing.T) {
	t.Parallel()

	api := quiet(rest.MaxBody(10))
	api.Register(routes(func(r *rest.Routes) {
		rest.Raw(r, []string{http.MethodPost}, "/bound", http.HandlerFunc(swallow))
		rest.Raw(r, []string{http.MethodPost}, "/wider", http.HandlerFunc(swallow), rest.MaxBody(1000))
	}))
	post := func(path string, body io.Reader) (status int, text string) {
		return record(api, httptest.NewRequest(http.MethodPost, path, body))
	}
	long := strings.Repeat("x", 100)
	for path, want := range map[string]string{"/bound": "10 too large", "/wider": "100 fine"} {
		if _, text := post(path, io.MultiReader(strings.NewReader(long))); text != want {
			t.Errorf("%s, a length that was not said: %s", path, text)
		}
	}
	if status, text := post("/bound", strings.NewReader(long)); status != http.StatusRequestEntityTooLarge ||
		!strings.Contains(text, "10 bytes") {
		t.Errorf("a length that was said: %d %s", status, text)
	}
	if _, text := post("/bound", strings.NewReader("0123456789")); text != "10 fine" {
		t.Errorf("just as long as it may be: %s", text)
	}
}

func swallow(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	text := " fine"
	if errors.As(err, new(*http.MaxBytesError)) {
		text = " too large"
	}
	_, _ = io.WriteString(w, map[int]string{10: "10", 100: "100"}[len(b)]+text)
}

// careless is a file system that does not look at names.
type careless struct{ files fstest.MapFS }

func (c careless) Open(name string) (fs.File, error) { return c.files.Open(path.Base(name)) }

// Whatever stands for a name is a file below the directory, or not found.
func TestAttackFileNames(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	for name, text := range map[string]string{
		"secret.txt": "secret", "public/a.txt": "public", "public/sub/b.txt": "public",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	type in struct {
		Name string `path:"name"`
	}
	lax := careless{fstest.MapFS{"secret.txt": {Data: []byte("secret")}}}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/disk/{path:name}", func(_ context.Context, in in) (*rest.File, error) {
			return rest.OpenFile(os.DirFS(filepath.Join(dir, "public")), in.Name)
		})
		rest.Get(r, "/lax/{path:name}", func(_ context.Context, in in) (*rest.File, error) {
			return rest.OpenFile(lax, in.Name)
		})
	})
	for _, name := range []string{
		"a.txt/b", strings.Repeat("a", 5000), strings.Repeat("a/", 3000), "sub", "", "%2e%2e/secret.txt", "..%2fsecret.txt",
		"sub/..%2f..%2fsecret.txt", "%2e%2e%2fsecret.txt", "%2fetc%2fpasswd", "..%5csecret.txt", ".", "%2e", "a.txt%2f",
		"sub%2f%2fb.txt", "A.TXT/..",
	} {
		for _, root := range []string{"/disk/", "/lax/"} {
			if status, text := record(api, requestOf(t, http.MethodGet, root+name)); strings.Contains(text, "secret") ||
				(status != http.StatusNotFound && status != http.StatusPermanentRedirect) {
				t.Errorf("%s%.40s: %d %s", root, name, status, text)
			}
		}
	}
	for _, name := range []string{"a.txt", "sub/b.txt", "sub%2fb.txt"} {
		wantStatus(t, api, http.MethodGet, "/disk/"+name, http.StatusOK)
	}
}

// requestOf is a request as it stands in a request line, with nothing resolved.
func requestOf(t *testing.T, method, target string) *http.Request {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, "/", nil)
	r.URL, r.RequestURI = u, target
	return r
}

func recorded(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
