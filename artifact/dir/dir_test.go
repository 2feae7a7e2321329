package dir_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact/dir"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

func TestStore(t *testing.T) {
	t.Parallel()

	spooltest.TestArtifactStore(t, func(t *testing.T) store.ArtifactStore {
		t.Helper()
		s, err := dir.Open(filepath.Join(t.TempDir(), "artifacts"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// A file that is too large leaves nothing.
func TestMaxBytes(t *testing.T) {
	t.Parallel()

	place := t.TempDir()
	s, err := dir.Open(place, &dir.Options{MaxBytes: 5})
	if err != nil {
		t.Fatal(err)
	}
	for data, code := range map[string]spool.Code{"12345": "", "123456": spool.Limit} {
		_, err := s.SaveArtifact(t.Context(), spool.ThreadKey{ID: "t"},
			spool.NewArtifact{Data: strings.NewReader(data), Key: "k"})
		if spool.CodeOf(err) != code {
			t.Errorf("%q: %v", data, err)
		}
	}
	files := 0
	err = filepath.WalkDir(place, func(_ string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files != 2 {
		t.Errorf("%d files, %v", files, err)
	}
	if _, err := dir.Open(place, &dir.Options{MaxBytes: -1}); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("negative: %v", err)
	}
}
