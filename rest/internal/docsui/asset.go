package docsui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

// The licence is embedded too, because it must be distributed with the assets.
//
//go:embed page swagger
var files embed.FS

// bundle has all files by the names in the page.
type bundle struct {
	assets map[string]*representation
	// version is a digest of their names and contents. It is a part of their addresses, so a browser may keep
	// them for ever.
	version string
}

// embedded is read by the first page: programs without a page need not hash it.
var embedded = sync.OnceValue(func() bundle { return load(files) })

var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".png": "image/png",
	"":     "text/plain; charset=utf-8",
	".txt": "text/plain; charset=utf-8",
}

// load reads the embedded files. A file "x.gz" is the asset "x".
func load(from fs.FS) bundle {
	all := map[string]*representation{}
	err := fs.WalkDir(from, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, file)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		name, packed := strings.CutSuffix(path.Base(file), ".gz")
		asset := newRepresentation(contentTypes[path.Ext(name)], content)
		asset.packed = packed
		all[name] = asset
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("docs page: load the embedded files: %v", err))
	}

	digest := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(digest, "%s %s\n", name, all[name].tag)
	}
	return bundle{assets: all, version: hex.EncodeToString(digest.Sum(nil)[:8])}
}

// serve answers a request for name, which has the version of the assets before it. During a deployment, a
// page of one build asks another build for its assets. They are served then too, but not to be kept.
func (b bundle) serve(w http.ResponseWriter, r *http.Request, name string, missing http.HandlerFunc) {
	of, file, ok := strings.Cut(name, "/")
	if !ok {
		of, file = "", name
	}
	asset, ok := b.assets[file]
	if !ok {
		missing(w, r)
		return
	}
	caching := "no-cache"
	if of == b.version {
		caching = "public, max-age=31536000, immutable"
	}
	asset.serve(w, r, caching)
}
