// Package console has the web console: a page that shows the threads of a server, answers what waits for a person and
// operates runs. Its files are in dist, which clients/typescript/apps/console is built into, so that nobody who
// builds Spool needs Node. With the build tag noconsole they are left out.
//
// The page is made of these files alone, loads nothing from elsewhere, and speaks to the server that it came from: its
// API is where the page is.
package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// policy lets the page run its own scripts, use its own styles and call its own server, and nothing else. It shows
// images that it has read with a token, which are blobs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// index is the page. The names of all other files have hashes of their contents.
const index = "index.html"

// Handler returns the console: the page at "/", and its files below "/assets/". It answers GET and HEAD. It returns
// nil if the program was built without the console.
//
// The page finds the API relative to its own address, so that address must end in "/".
func Handler() http.Handler {
	if files == nil {
		return nil
	}
	return open(files)
}

// file is a file in the two forms in which it is sent. It is packed for the first client that takes it so, and not at
// each start.
type file struct {
	plain     []byte
	packed    func() []byte
	kind, tag string
}

// handler serves files by their paths.
type handler map[string]*file

// open reads all files. They are a part of the program, so one that cannot be read is a mistake of its build.
func open(files fs.FS) handler {
	h := make(handler)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		plain, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(plain)
		packed := sync.OnceValue(func() []byte { return pack(plain) })
		h["/"+name] = &file{
			plain: plain, packed: packed, kind: kindOf(name), tag: base64.RawURLEncoding.EncodeToString(sum[:12]),
		}
		return nil
	})
	if err != nil || h["/"+index] == nil {
		panic("console: the files are not complete")
	}
	h["/"] = h["/"+index]
	return h
}

// kindOf returns the media type of a file. It does not ask the machine, whose tables differ.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".txt":
		return "text/plain; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	}
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		return kind
	}
	return "application/octet-stream"
}

// pack returns a file in the form of gzip, or nil if that is not smaller.
func pack(plain []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(plain) // a buffer takes it all
	_ = w.Close()
	if b.Len() >= len(plain) {
		return nil
	}
	return b.Bytes()
}

// ServeHTTP implements [http.Handler].
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := h[r.URL.Path]
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	switch {
	case f == nil:
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		head.Set("Allow", "GET, HEAD")
		http.Error(w, "the console is only read", http.StatusMethodNotAllowed)
		return
	}
	head.Set("Content-Type", f.kind)
	head.Add("Vary", "Accept-Encoding")
	if strings.HasPrefix(r.URL.Path, "/assets/") {
		head.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		head.Set("Cache-Control", "no-cache")
		head.Set("Content-Security-Policy", policy)
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	body, tag := f.plain, f.tag
	if takesGzip(r) {
		if packed := f.packed(); packed != nil {
			head.Set("Content-Encoding", "gzip")
			body, tag = packed, f.tag+"-gzip"
		}
	}
	head.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip reports whether a client takes compressed files. One that lists gzip in order to refuse it gets plain
// files.
func takesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			weight = strings.ReplaceAll(weight, " ", "")
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
