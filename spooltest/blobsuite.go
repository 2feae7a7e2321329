package spooltest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// TestBlobs checks that a store keeps the contract of [store.Blobs]. Open is called once for each subtest, and returns
// an empty store that takes data of 10 MiB.
func TestBlobs(t *testing.T, open func(t *testing.T) store.Blobs) {
	t.Helper()
	for name, test := range map[string]func(s blobSuite){
		"RoundTrip": blobSuite.roundTrip, "Again": blobSuite.again, "WrongSize": blobSuite.wrongSize,
		"Missing": blobSuite.missing, "Deleted": blobSuite.deleted, "DeletedUnread": blobSuite.deletedUnread,
		"Concurrent": blobSuite.concurrent, "Cancelled": blobSuite.cancelled, "Broken": blobSuite.broken,
		"Keys": blobSuite.keys, "Refused": blobSuite.refused,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(blobSuite{t, open(t)})
		})
	}
}

type blobSuite struct {
	*testing.T

	blobs store.Blobs
}

// blobData returns data that have no two equal parts.
func blobData(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // it always fills data
	return data
}

func (s blobSuite) put(key string, data []byte) {
	s.Helper()
	if err := s.blobs.PutBlob(s.Context(), key, bytes.NewReader(data), int64(len(data))); err != nil {
		s.Fatalf("put %s: %v", key, err)
	}
}

func (s blobSuite) read(key string) ([]byte, error) {
	r, err := s.blobs.OpenBlob(s.Context(), key)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// has checks that a key has the data.
func (s blobSuite) has(key string, want []byte) {
	s.Helper()
	if got, err := s.read(key); err != nil || !bytes.Equal(got, want) {
		s.Errorf("%s has %d bytes, %v, want %d", key, len(got), err, len(want))
	}
}

func (s blobSuite) hasNot(key string) {
	s.Helper()
	r, err := s.blobs.OpenBlob(s.Context(), key)
	if spool.CodeOf(err) != spool.NotFound {
		s.Errorf("open %s: %v", key, err)
	}
	if err == nil {
		_ = r.Close()
	}
}

// incomplete checks that a key whose put failed does not look complete, and that its next put succeeds.
func (s blobSuite) incomplete(key string, data []byte) {
	s.Helper()
	if got, err := s.read(key); err == nil {
		s.Errorf("%s has %d bytes after a put that failed", key, len(got))
	}
	s.put(key, data)
	s.has(key, data)
}

// roundTrip stores data of many sizes from readers of many kinds.
func (s blobSuite) roundTrip() {
	for name, size := range map[string]int{
		"0": 0, "1": 1, "256k-1": 256<<10 - 1, "256k": 256 << 10, "256k-and-1": 256<<10 + 1, "1m": 1 << 20, "10m": 10 << 20,
	} {
		data := blobData(size)
		s.put("size/"+name, data)
		s.has("size/"+name, data)
	}
	data := blobData(700_000)
	for name, of := range map[string]func(io.Reader) io.Reader{"half": iotest.HalfReader, "end": iotest.DataErrReader} {
		if err := s.blobs.PutBlob(s.Context(), name, of(bytes.NewReader(data)), int64(len(data))); err != nil {
			s.Errorf("%s: %v", name, err)
		}
		s.has(name, data)
	}
}

func (s blobSuite) again() {
	data := blobData(600_000)
	for range 3 {
		s.put("a", data)
		s.has("a", data)
	}
	s.hasNot("b")
}

// wrongSize puts data that are too short, too long, or of an impossible size.
func (s blobSuite) wrongSize() {
	const size = 600_000
	data := blobData(size)
	for name, c := range map[string]struct{ has, says int }{
		"none": {0, 1}, "short": {size - 1, size}, "half": {size / 2, size}, "long": {size, size - 1},
		"double": {size, size / 2}, "some": {1, 0}, "negative": {0, -1}, "tiny": {4, 5}, "tiny-long": {5, 4},
	} {
		err := s.blobs.PutBlob(s.Context(), name, bytes.NewReader(data[:c.has]), int64(c.says))
		if spool.CodeOf(err) != spool.Invalid {
			s.Errorf("%s: %v", name, err)
		}
		s.incomplete(name, data)
	}
}

func (s blobSuite) missing() {
	s.put("a/b", []byte("hello"))
	for _, key := range []string{"a", "b", "a/c", "a/b/c"} {
		s.hasNot(key)
	}
}

func (s blobSuite) deleted() {
	data := blobData(600_000)
	for _, key := range []string{"a", "a/b", "ab"} {
		s.put(key, data)
	}
	for _, key := range []string{"a", "a", "never"} {
		if err := s.blobs.DeleteBlob(s.Context(), key); err != nil {
			s.Errorf("delete %s: %v", key, err)
		}
	}
	s.hasNot("a")
	s.has("a/b", data)
	s.has("ab", data)
}

// deletedUnread deletes data that somebody reads. The reader gets all data or an error.
func (s blobSuite) deletedUnread() {
	data := blobData(3 << 20)
	s.put("a", data)
	r, err := s.blobs.OpenBlob(s.Context(), "a")
	if err != nil {
		s.Fatal(err)
	}
	defer r.Close()
	begin := make([]byte, 1000)
	if _, err := io.ReadFull(r, begin); err != nil {
		s.Fatal(err)
	}
	if err := s.blobs.DeleteBlob(s.Context(), "a"); err != nil {
		s.Fatal(err)
	}
	end, err := io.ReadAll(r)
	if got := slices.Concat(begin, end); err == nil && !bytes.Equal(got, data) {
		s.Errorf("the reader has %d bytes without an error, want %d", len(got), len(data))
	}
	s.hasNot("a")
}

// concurrent puts one key many times at once, while others read it.
func (s blobSuite) concurrent() {
	data := blobData(600_000)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			if err := s.blobs.PutBlob(s.Context(), "a", bytes.NewReader(data), int64(len(data))); err != nil {
				s.Errorf("put: %v", err)
			}
			s.has("a", data)
		})
		group.Go(func() {
			if got, err := s.read("a"); spool.CodeOf(err) != spool.NotFound && (err != nil || !bytes.Equal(got, data)) {
				s.Errorf("read %d bytes, %v", len(got), err)
			}
		})
	}
	group.Wait()
	s.has("a", data)
}

// cancelled puts for a caller that has gone, or goes in the middle.
func (s blobSuite) cancelled() {
	data := blobData(600_000)
	for name, after := range map[string]int64{"before": 0, "early": 1000, "late": 599_999} {
		ctx, cancel := context.WithCancel(s.Context())
		if after == 0 {
			cancel()
		}
		reader := io.MultiReader(io.LimitReader(bytes.NewReader(data), after), canceller(cancel),
			bytes.NewReader(data[after:]))
		if err := s.blobs.PutBlob(ctx, name, reader, int64(len(data))); spool.CodeOf(err) != spool.Canceled {
			s.Errorf("%s: %v", name, err)
		}
		cancel()
		s.incomplete(name, data)
	}
}

// canceller is a reader without data that cancels a context.
type canceller context.CancelFunc

func (c canceller) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

// broken puts data that end with an error.
func (s blobSuite) broken() {
	data, broken := blobData(600_000), errors.New("it broke")
	for name, after := range map[string]int{
		"first": 0, "early": 1000, "middle": 300_000, "late": 599_999, "end": 600_000,
	} {
		reader := io.MultiReader(bytes.NewReader(data[:after]), iotest.ErrReader(broken))
		if err := s.blobs.PutBlob(s.Context(), name, reader, int64(len(data))); !errors.Is(err, broken) {
			s.Errorf("%s: %v", name, err)
		}
		s.incomplete(name, data)
	}
}

// keys puts data under keys that are easily mistaken for each other.
func (s blobSuite) keys() {
	keys := []string{
		"a", "a/b", "a/b/c", "a-b", "ab", "a/-", "-", "--", "0", "con", "new", strings.Repeat("k", 200),
		strings.Repeat("k", 199), "x/" + strings.Repeat("y", 198), strings.Repeat("z/", 99) + "zz",
	}
	for _, key := range keys {
		s.put(key, []byte("the data of "+key))
	}
	for _, key := range keys {
		s.has(key, []byte("the data of "+key))
	}
}

// refused uses texts that are no keys.
func (s blobSuite) refused() {
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/../b", "a.b", "A", "a_b", "a b", "a:b", "a%2fb", "ä",
		`a\b`, "a\n", "a\x00", strings.Repeat("a", 201),
	} {
		if err := s.blobs.PutBlob(s.Context(), key, strings.NewReader("x"), 1); spool.CodeOf(err) != spool.Invalid {
			s.Errorf("put %.20q: %v", key, err)
		}
		r, err := s.blobs.OpenBlob(s.Context(), key)
		if spool.CodeOf(err) != spool.Invalid {
			s.Errorf("open %.20q: %v", key, err)
		}
		if err == nil {
			_ = r.Close()
		}
		if err := s.blobs.DeleteBlob(s.Context(), key); spool.CodeOf(err) != spool.Invalid {
			s.Errorf("delete %.20q: %v", key, err)
		}
	}
}
