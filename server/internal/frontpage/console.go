package frontpage

import (
	"context"
	"net/http"
	"path"
	"strings"
)

// PathAssets is the path of the console's files. All are in one folder, and their names have hashes.
const PathAssets = "/assets/{file}"

// Asset names a file of the console.
type Asset struct {
	File string `path:"file"`
}

// File is a file of the console.
type File struct{ console http.Handler }

// Asset answers GET on a file of the console. The files are the same for all, so nobody is asked for credentials.
func (c Controller) Asset(_ context.Context, _ Asset) (File, error) { return File{c.Console}, nil }

// Respond implements [rest.Responder].
func (f File) Respond(w http.ResponseWriter, r *http.Request) error {
	f.console.ServeHTTP(w, at(r, "/assets/"+path.Base(r.URL.Path)))
	return nil
}

// showConsole sends the console's page. The page names its files and finds the API relative to its own address, so a
// browser is first sent to the address that ends in "/". The way there is relative too, for proxies that put something
// before the path.
func (c Controller) showConsole(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/") {
		w.Header().Set("Location", "./"+path.Base(r.URL.Path)+"/")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	c.Console.ServeHTTP(w, at(r, "/"))
}

// at returns the request with another path.
func at(r *http.Request, name string) *http.Request {
	changed, to := *r, *r.URL
	to.Path, to.RawPath, changed.URL = name, "", &to
	return &changed
}
